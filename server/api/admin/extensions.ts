import type { Intake } from '../../ingest/intake.ts';
import type { DryEvent } from '../../ingest/protocol.ts';
import { shown } from '../../language/shown.ts';
import type { ExtensionDefinition } from '../../registry/definition.ts';
import type { Along, Changed, Definitions } from '../../registry/definitions.ts';
import { definitionSetOf } from '../../registry/extension-sets.ts';
import { parseJsonBody } from '../json.ts';
import { ApiError, type ApiRequest, type Reply, resultReply } from '../reply.ts';
import type { Resolver } from '../resolver.ts';
import { requireJsonType } from '../route.ts';
import type { AdminResource } from '../routes/route.ts';
import { messageSearches } from '../security-filter.ts';
import type { FilterText } from '../session/callers.ts';
import { fieldsOf } from './admin.ts';
import { dryEventText, roundedMs } from './dry.ts';
import { readExtension, readTestBody } from './extension-schema.ts';
import { checkExtension, stepOf } from './extension-steps.ts';

/** Dependencies of the resource of extensions. */
export interface ExtensionResourceDeps {
  definitions: Definitions;
  filterOwners: () => readonly FilterText[];
  resolver: Resolver;
  /** Tries extensions on samples. */
  intake: Pick<Intake, 'dry'>;
}

const KIND = 'extensions';
const TEST = 'test';
const MESSAGE_WARNING =
  'the message of an access line becomes its request line: bare words no longer find address, status and agent in it, ' +
  'and -word lets more through';

/**
 * The resource `extensions`, by id, as other definitions, in the order in which they run.
 * `position` of POST and PATCH moves one; `definitions: true` makes the fields, metrics and group that go with it and
 * lists them as `made`. One of access lines that is turned on has a `warning` of searches that look into messages.
 * `POST extensions/test` tries extensions on samples. Source: INTERFACE.md 11 and 13.
 */
export function extensionResource(deps: ExtensionResourceDeps): [string, AdminResource] {
  const { definitions } = deps;
  const existing = (id: string): ExtensionDefinition => {
    const definition = definitions.get(KIND, id);
    if (definition === undefined) throw unknownExtension(id);
    return definition;
  };
  const resource: AdminResource = {
    list: async () => {
      const extensions = definitions
        .list(KIND)
        .map((definition, position) => ({ ...definition, position }));
      return resultReply(JSON.stringify({ extensions }));
    },
    make: async ({ request, asker }) => {
      const { value, along, wantsSet } = readBody(request);
      const made = await definitions.create(KIND, value, asker, along);
      return resultReply(JSON.stringify(shownChange(deps, made, value, wantsSet)));
    },
    show: async ({ id }) => resultReply(JSON.stringify(withPosition(definitions, existing(id)))),
    change: async ({ request, asker, id }) => {
      existing(id);
      const { value, along, wantsSet } = readBody(request);
      const changed = await definitions.change(KIND, id, value, asker, along);
      return resultReply(JSON.stringify(shownChange(deps, changed, value, wantsSet)));
    },
    delete: async ({ asker, id }) => {
      const { name } = existing(id);
      await definitions.delete(KIND, id, asker);
      return resultReply(JSON.stringify({ id, name, deleted: true }));
    },
    test: async ({ request }) => test(deps, request),
  };
  return [KIND, resource];
}

async function test(deps: ExtensionResourceDeps, request: ApiRequest): Promise<Reply> {
  requireJsonType(request);
  const { extension, samples, rehearses } = readTestBody(parseJsonBody(request.body));
  const steps = stepsOfTest(deps, extension);
  // A string in an array is a line of content, whatever is in it.
  const body = Buffer.from(JSON.stringify(samples));
  const outcome = await deps.intake.dry(body, 'json', { steps, rehearses });
  const { status, message, events, tookMs, extendMs, failed } = outcome;
  if (status !== 200) throw new ApiError(status, message);
  const us = roundedMs((1_000 * extendMs) / events.length);
  const cost = rehearses ? `,"us":${us},"failed":${failed}` : '';
  return resultReply(`{"events":[${events.map(testedText).join(',')}],"ms":${tookMs}${cost}}`);
}

/** JSON text of what became of a sample. `rule` is that of the last extension that found something by one. */
function testedText({ event, timeMs, matches, before }: DryEvent): string {
  const date = JSON.stringify(new Date(timeMs).toISOString());
  const beforeText = before === undefined ? '' : `,"before":${dryEventText(before)}`;
  const rule = matches.findLast((match) => match.rule !== undefined)?.rule;
  const ruleText = rule === undefined ? '' : `,"rule":${JSON.stringify(rule)}`;
  return `{"event":${event},"date":${date},"matched":${matches.length > 0}${ruleText}${beforeText}}`;
}

/** The steps that a test names. Throws ApiError 400 when there is no such extension, or it is malformed. */
function stepsOfTest({ definitions, resolver }: ExtensionResourceDeps, extension: unknown) {
  if (extension === undefined) {
    const on = definitions.list(KIND).filter(({ enabled }) => enabled);
    return on.map((definition) => stepOf(definition, resolver));
  }
  if (typeof extension === 'string') {
    const definition = definitions.get(KIND, extension);
    if (definition === undefined) throw new ApiError(400, unknownExtension(extension).message);
    return [stepOf(definition, resolver)];
  }
  const fields = new Map(fieldsOf(extension, 'extension'));
  for (const name of ['id', 'name']) if (!fields.has(name)) fields.set(name, TEST);
  const definition = readExtension(Object.fromEntries(fields));
  checkExtension(definition, definitions.list(KIND), resolver);
  return [stepOf(definition, resolver)];
}

function unknownExtension(id: string): ApiError {
  return new ApiError(404, `there is no extension with the id ${shown(id)}`);
}

/** Reads the body of POST and PATCH: the definition or its changes, and the options beside it. */
function readBody(request: ApiRequest): {
  value: Map<string, unknown>;
  along: Along;
  wantsSet: boolean;
} {
  requireJsonType(request);
  const value = new Map(fieldsOf(parseJsonBody(request.body), 'the body'));
  const position = value.get('position');
  const wantsSet = value.get('definitions') ?? false;
  value.delete('position');
  value.delete('definitions');
  if (typeof wantsSet !== 'boolean') {
    throw new ApiError(
      400,
      `definitions ${shown(wantsSet)} is not allowed; allowed: true or false`,
    );
  }
  const along: Along = {};
  if (wantsSet) along.set = (definition) => definitionSetOf(definition as ExtensionDefinition);
  if (position !== undefined) along.position = readPosition(position);
  return { value, along, wantsSet };
}

function readPosition(position: unknown): number {
  if (typeof position === 'number' && Number.isSafeInteger(position) && position >= 0) {
    return position;
  }
  throw new ApiError(
    400,
    `position ${shown(position)} is not allowed; allowed: a whole number from 0 (runs first)`,
  );
}

function withPosition(definitions: Definitions, definition: ExtensionDefinition): object {
  const position = definitions.list(KIND).findIndex(({ id }) => id === definition.id);
  return { ...definition, position };
}

/**
 * The definition with what the change `asked` for brings: when others were to be made with it, those that were, by
 * resource; the warning of one that is turned on.
 */
function shownChange(
  deps: ExtensionResourceDeps,
  { definition, made }: Changed<typeof KIND>,
  asked: ReadonlyMap<string, unknown>,
  wantsSet: boolean,
): object {
  const ofKind = (wanted: string) => made.flatMap(([kind, one]) => (kind === wanted ? [one] : []));
  const kinds = { fields: ofKind('fields'), metrics: ofKind('metrics'), groups: ofKind('groups') };
  const isTurnedOn = definition.kind === 'access_log' && asked.get('enabled') === true;
  return {
    ...withPosition(deps.definitions, definition),
    ...(wantsSet ? { made: kinds } : {}),
    ...(isTurnedOn ? warningOf(deps) : {}),
  };
}

function warningOf({ definitions, filterOwners, resolver }: ExtensionResourceDeps): object {
  const { securityFilters, tagsets } = messageSearches(definitions, filterOwners(), resolver);
  if (securityFilters.length === 0 && tagsets.length === 0) return {};
  return { warning: { message: MESSAGE_WARNING, security_filters: securityFilters, tagsets } };
}
