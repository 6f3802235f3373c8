import { type TSchema, Type } from 'typebox';
import { Compile } from 'typebox/compile';
import { isAttributePath } from '../../language/filter.ts';
import { shown } from '../../language/shown.ts';
import { EXTENSION_PLACES } from '../../registry/default-extensions.ts';
import { EXTENSION_KINDS, type ExtensionDefinition } from '../../registry/definition.ts';
import { FILTER_CHARACTERS_MAX } from '../../registry/key-record.ts';
import { ApiError } from '../reply.ts';
import { choice, cutText, flag, list, named, object } from '../schema.ts';
import { refuse } from '../schema-fault.ts';

/** Samples of a test. */
const SAMPLES_MAX = 100;

const SOURCES_MAX = 20;
const FORMATS_MAX = 20;
const FORMAT_CHARACTERS_MAX = 200;
const PATH_CHARACTERS_MAX = 1_000;
const RULES_CHARACTERS_MAX = 40_000;
const SAMPLE_CHARACTERS_MAX = 1_048_576;

const kind = choice(...EXTENSION_KINDS);
const common = {
  ...named,
  kind,
  enabled: Type.Optional(flag()),
  filter: Type.Optional(cutText(FILTER_CHARACTERS_MAX)),
  sources: Type.Optional(list(cutText(PATH_CHARACTERS_MAX), 1, SOURCES_MAX)),
};
const target = Type.Optional(cutText(PATH_CHARACTERS_MAX));
const anyExtension = Compile(
  Type.Object(
    { kind },
    {
      description:
        'an object of id, name, description, kind, enabled, filter, sources, target and what the kind has',
    },
  ),
);
const extensions = {
  plain: Compile(object({ ...common, target })),
  grok: Compile(
    object({
      ...common,
      target,
      rules: cutText(RULES_CHARACTERS_MAX, 1),
      helperRules: Type.Optional(cutText(RULES_CHARACTERS_MAX)),
    }),
  ),
  date: Compile(
    object({
      ...common,
      formats: Type.Optional(list(cutText(FORMAT_CHARACTERS_MAX, 1), 0, FORMATS_MAX)),
      timezone: Type.Optional(cutText(FORMAT_CHARACTERS_MAX, 1)),
    }),
  ),
  attribute: Compile(
    object({ ...common, target: cutText(PATH_CHARACTERS_MAX), keeps: Type.Optional(flag()) }),
  ),
};

/**
 * Reads an extension from a value of any shape, and fills in the sources and the target of its kind. Paths are
 * checked; the meaning of filter, rules and formats is not. Throws ApiError 400 naming the first fault.
 */
export function readExtension(value: unknown): ExtensionDefinition {
  if (!anyExtension.Check(value)) return refuse(anyExtension, value);
  const given = value.kind as ExtensionDefinition['kind'];
  if (given === 'grok') {
    if (!extensions.grok.Check(value)) return refuse(extensions.grok, value);
    const { rules, helperRules = '' } = value;
    return { ...placed(value, given, value.target), kind: given, rules, helperRules };
  }
  if (given === 'date') {
    if (!extensions.date.Check(value)) return refuse(extensions.date, value);
    const { formats = [], timezone = 'UTC' } = value;
    return { ...placed(value, given, undefined), kind: given, formats, timezone };
  }
  if (given === 'attribute') {
    if (!extensions.attribute.Check(value)) return refuse(extensions.attribute, value);
    return { ...placed(value, given, value.target), kind: given, keeps: value.keeps ?? true };
  }
  if (!extensions.plain.Check(value)) return refuse(extensions.plain, value);
  return { ...placed(value, given, value.target), kind: given };
}

/** Fields that all kinds have, with their defaults. */
interface Common {
  id: string;
  name: string;
  description?: string;
  enabled?: boolean;
  filter?: string;
  sources?: string[];
}

function placed(value: Common, kind: ExtensionDefinition['kind'], target: string | undefined) {
  const { id, name, description = '', enabled = false, filter = '' } = value;
  const places = EXTENSION_PLACES[kind];
  const sources = value.sources ?? [...places.sources];
  if (sources.length === 0) {
    throw new ApiError(400, 'sources is missing; allowed: an array of 1 to 20 attribute paths');
  }
  for (const [place, source] of sources.entries()) {
    checkPath(`sources[${place}]`, source, true);
    if (sources.indexOf(source) === place) continue;
    throw new ApiError(400, `sources[${place}] ${shown(source)} is there twice`);
  }
  const goal = target ?? places.target;
  // Attributes go below a name; only a value can become the message.
  if (goal !== undefined) checkPath('target', goal, kind === 'attribute');
  return {
    ...{ id, name, description, enabled, filter, sources },
    ...(goal === undefined ? {} : { target: goal }),
  };
}

function checkPath(parameter: string, path: string, mayBeMessage: boolean): void {
  if (isAttributePath(path) && (mayBeMessage || path !== 'message')) return;
  const allowed = `custom.<name>${mayBeMessage ? ', syslog.<name> or message' : ' or syslog.<name>'}`;
  throw new ApiError(400, `${parameter} ${shown(path)} is not allowed; allowed: ${allowed}`);
}

const described = <T extends TSchema>(schema: T, description: string): T => ({
  ...schema,
  description,
});
const test = Compile(
  object({
    extension: Type.Optional(
      described(Type.Unknown(), 'an object that defines an extension, or the id of one'),
    ),
    all: Type.Optional(
      Type.Literal(true, { description: 'true, for all extensions that are on, in their order' }),
    ),
    samples: list(cutText(SAMPLE_CHARACTERS_MAX, 1), 1, SAMPLES_MAX),
    rehearse: Type.Optional(flag()),
  }),
);

/** Schemas of extensions by what their kinds have, and of the body of a test, for the description of the interface. */
export const EXTENSION_SCHEMAS = {
  plain: extensions.plain.Type(),
  grok: extensions.grok.Type(),
  date: extensions.date.Type(),
  attribute: extensions.attribute.Type(),
  test: test.Type(),
};

/** Body of a test of extensions. */
export interface TestBody {
  /** A definition of any shape, or an id; `undefined`: all that are on. */
  extension: unknown;
  samples: readonly string[];
  rehearses: boolean;
}

/** The body of `POST /admin/api/extensions/test`. Throws ApiError 400 naming the first fault. */
export function readTestBody(body: unknown): TestBody {
  if (!test.Check(body)) return refuse(test, body);
  const { extension, all, samples, rehearse = false } = body;
  if ((extension === undefined) === (all === undefined)) {
    const what = extension === undefined ? 'extension is missing' : 'all is there beside extension';
    throw new ApiError(
      400,
      `${what}; allowed: one of extension (a definition or an id) and all (true)`,
    );
  }
  for (const [place, sample] of samples.entries()) {
    if (sample.trim() === '') throw new ApiError(400, `samples[${place}] is blank`);
  }
  return { extension, samples, rehearses: rehearse };
}
