import { must } from '../../engine/base/assert.ts';
import { EngineError } from '../../engine/base/errors.ts';
import type { Disk } from '../../engine/base/file.ts';
import { nearestHint } from '../../engine/base/nearest.ts';
import { defaultDefinitions } from './default-definitions.ts';
import { defaultExtensions } from './default-extensions.ts';
import {
  CORE_METRIC_ID,
  DEFINITION_KINDS,
  type Definition,
  type DefinitionKind,
  type DefinitionTypes,
  type GroupDefinition,
  type MetricDefinition,
  SINGULAR,
  type TagsetDefinition,
} from './definition.ts';
import { checkDefinitionId, idFromName } from './definition-id.ts';
import { type DefinitionEntry, readDefinitionEntries } from './definition-record.ts';
import { type DefinitionSet, missingOf } from './definition-set.ts';
import { checkFormulas } from './formula-graph.ts';
import { type Asker, AUDIT_PATH, type Journal, openJournal } from './journal.ts';
import { type Languages, referencesOf, removedTag } from './references.ts';

/** Definitions of a kind. */
export const DEFINITIONS_MAX = 4_096;

/** Characters of a definition as JSON text; far below what a record of the file may have. */
export const DEFINITION_CHARACTERS_MAX = 100_000;

/** A line of the audit log but for its time. */
interface AuditText extends Asker {
  what: string;
  resource: string;
  [which: string]: unknown;
}

/** Path of the record file. */
export const DEFINITIONS_PATH = 'definitions';

/** Rules of definitions that others know. All throw an Error whose message is for the user. */
export interface DefinitionRules extends Languages {
  /** A value from outside as a definition, what may be left out filled in. Looks at its shape only. */
  read<K extends DefinitionKind>(kind: K, value: unknown): DefinitionTypes[K];
  /** Checks that a definition makes sense: its texts, and the ids in them, among all that is defined. */
  check(kind: DefinitionKind, definition: Definition, definitions: Definitions): void;
  /** The read key whose security filter has this attribute name, as messages call it. */
  filterUser(name: string): string | undefined;
}

/** Other changes that go into one record with a change. */
export interface Along {
  /** Place among those of its kind, from 0. */
  position?: number;
  /** Definitions to make along with this one unless they exist. */
  set?: (definition: Definition) => DefinitionSet | undefined;
}

/** Result of a change. */
export interface Changed<K extends DefinitionKind> {
  definition: DefinitionTypes[K];
  /** Definitions that were made along with it. */
  made: readonly [DefinitionKind, Definition][];
}

/** Dependencies of the definitions. */
export interface DefinitionsOptions {
  disk: Disk;
  rules: DefinitionRules;
  nowMs: () => number;
  /** Set when the file was made before. An empty file is then refused. */
  mustExist?: boolean;
}

/**
 * The fields, tagsets, metrics, groups, saved analyses and extensions of the service, in memory and in the file
 * `definitions`. Owned by the front thread. A change is durable first, then in force for the next request. Methods
 * reject with USAGE, or as the rules do, when something is not allowed, with LIMIT beyond DEFINITIONS_MAX, and with
 * IO when it cannot be written.
 */
export class Definitions {
  readonly #options: DefinitionsOptions;
  readonly #journal: Journal;
  readonly #byKind = new Map<DefinitionKind, Map<string, Definition>>();
  #version = 0;
  #everMade: boolean;
  #everHadExtensions: boolean;
  #watchers: (() => void)[] = [];

  constructor(options: DefinitionsOptions, journal: Journal, entries: readonly DefinitionEntry[]) {
    this.#options = options;
    this.#journal = journal;
    for (const kind of DEFINITION_KINDS) this.#byKind.set(kind, new Map());
    for (const entry of entries) this.#apply(entry);
    this.#everMade = entries.length > 0;
    this.#everHadExtensions = entries.some(({ kind }) => kind === 'extensions');
  }

  /** Grows with every change: whatever was derived from earlier definitions is out of date. */
  get version(): number {
    return this.#version;
  }

  /** Damage in one copy of the file that was healed from the other, a sentence each. */
  get healed(): readonly string[] {
    return this.#journal.healed;
  }

  /** Calls `changed` after each change, when it is in force and before it is answered. */
  watch(changed: () => void): void {
    this.#watchers.push(changed);
  }

  /**
   * Makes what a fresh service has, when nothing has ever been defined; the extensions when there has never been one.
   */
  provision(): Promise<void> {
    return this.#journal.inTurn(async () => {
      const wanted = this.#everMade ? [] : defaultDefinitions();
      if (!this.#everHadExtensions) {
        for (const extension of defaultExtensions()) wanted.push(['extensions', extension]);
      }
      if (wanted.length === 0) return;
      const entries = wanted.map(
        ([kind, definition]): DefinitionEntry => ({ type: 'definition', kind, definition }),
      );
      const ids = wanted.map(([, { id }]) => id);
      await this.#write(entries, [
        {
          who: 'first start',
          what: 'create',
          resource: this.#everMade ? 'extensions' : 'all',
          ids,
        },
      ]);
    });
  }

  /** Makes a definition from a value of any shape; an id that it does not have is made from its name. */
  create<K extends DefinitionKind>(
    kind: K,
    value: ReadonlyMap<string, unknown>,
    asker: Asker,
    along: Along = {},
  ): Promise<Changed<K>> {
    return this.#journal.inTurn(async () => {
      this.#checkCount(kind, 1);
      const isGiven = value.has('id');
      const wanted = new Map(value);
      // A name for the shape's check; the real one follows when the name is known to be a text.
      if (!isGiven) wanted.set('id', 'x');
      let definition = this.#options.rules.read(kind, Object.fromEntries(wanted));
      if (!isGiven) {
        const isTaken = (id: string): boolean => this.#holderOf(kind, id) !== undefined;
        definition = { ...definition, id: idFromName(definition.name, SINGULAR[kind], isTaken) };
      }
      checkDefinitionId(definition.id, 'id');
      const holder = this.#holderOf(kind, definition.id);
      if (holder !== undefined) {
        throw new EngineError('USAGE', `id "${definition.id}" is taken by a ${SINGULAR[holder]}`);
      }
      this.#check(kind, definition);
      this.#checkNewMeaning(kind, definition);
      return this.#put(kind, definition, asker, 'create', along);
    });
  }

  /** Changes what `change` has of a definition; `null` takes away what may be left out. */
  change<K extends DefinitionKind>(
    kind: K,
    id: string,
    change: ReadonlyMap<string, unknown>,
    asker: Asker,
    along: Along = {},
  ): Promise<Changed<K>> {
    return this.#journal.inTurn(async () => {
      const before = this.#existing(kind, id);
      if (change.has('id') && change.get('id') !== id) {
        throw new EngineError('USAGE', `id "${id}" never changes`);
      }
      const wanted = new Map<string, unknown>(Object.entries(before));
      for (const [name, value] of change) {
        if (value === null) wanted.delete(name);
        else wanted.set(name, value);
      }
      const definition = this.#options.rules.read(kind, Object.fromEntries(wanted));
      this.#check(kind, definition);
      if (kind === 'tagsets') {
        this.#checkTags(before as TagsetDefinition, definition as TagsetDefinition);
      }
      return this.#put(kind, definition, asker, 'change', along);
    });
  }

  /** Deletes a definition, unless another uses it. */
  delete(kind: DefinitionKind, id: string, asker: Asker): Promise<void> {
    return this.#journal.inTurn(async () => {
      const { name } = this.#existing(kind, id);
      if (kind === 'metrics' && id === CORE_METRIC_ID) {
        throw new EngineError('USAGE', `metric "${id}" cannot be deleted: it is the event count`);
      }
      const user = this.#userOf(kind, id);
      if (user !== undefined) {
        throw new EngineError(
          'USAGE',
          `${SINGULAR[kind]} "${id}" cannot be deleted: it is used by the ${user}`,
        );
      }
      const line = { ...asker, what: 'delete', resource: kind, id, name };
      await this.#write([{ type: 'deleted', kind, id }], [line]);
    });
  }

  /** The definitions of a kind in their order: that in which they were made, unless some were moved. */
  list<K extends DefinitionKind>(kind: K): DefinitionTypes[K][] {
    return [...this.#all(kind).values()];
  }

  /** The definition with that id. */
  get<K extends DefinitionKind>(kind: K, id: string): DefinitionTypes[K] | undefined {
    return this.#all(kind).get(id);
  }

  /** Reports whether a field or tagset has that id. */
  hasField(id: string): boolean {
    return this.#holderOf('fields', id) !== undefined;
  }

  /** Waits for changes that run; later ones reject with CLOSED. */
  close(): Promise<void> {
    return this.#journal.close();
  }

  #all<K extends DefinitionKind>(kind: K): Map<string, DefinitionTypes[K]> {
    return must(this.#byKind.get(kind), kind) as Map<string, DefinitionTypes[K]>;
  }

  #existing<K extends DefinitionKind>(kind: K, id: string): DefinitionTypes[K] {
    const found = this.get(kind, id);
    if (found !== undefined) return found;
    throw new EngineError('USAGE', `there is no ${SINGULAR[kind]} with the id "${id}"`);
  }

  /** The kind of the definition that has the id: fields and tagsets share theirs. */
  #holderOf(kind: DefinitionKind, id: string): DefinitionKind | undefined {
    const kinds: DefinitionKind[] =
      kind === 'fields' || kind === 'tagsets' ? ['fields', 'tagsets'] : [kind];
    return kinds.find((one) => this.#all(one).has(id));
  }

  #check(kind: DefinitionKind, definition: Definition): void {
    const { rules } = this.#options;
    const count = JSON.stringify(definition).length;
    if (count > DEFINITION_CHARACTERS_MAX) {
      throw new EngineError(
        'USAGE',
        `the ${SINGULAR[kind]} has ${count} characters as JSON; allowed: ${DEFINITION_CHARACTERS_MAX}`,
      );
    }
    if (kind === 'metrics') this.#checkMetric(definition as MetricDefinition);
    if (kind === 'groups') this.#checkGroup(definition as GroupDefinition);
    rules.check(kind, definition, this);
  }

  #checkMetric(metric: MetricDefinition): void {
    if ((metric.type === 'core') !== (metric.id === CORE_METRIC_ID)) {
      throw new EngineError(
        'USAGE',
        `type "${metric.type}" of the metric "${metric.id}" is not allowed; allowed: core for ` +
          `"${CORE_METRIC_ID}", attribute or formula for others`,
      );
    }
    const { rules } = this.#options;
    checkFormulas(metric, this.list('metrics'), (formula) => rules.formulaMetrics(formula));
  }

  #checkGroup(group: GroupDefinition): void {
    const fieldIds = [...this.#all('fields').keys(), ...this.#all('tagsets').keys()];
    checkMembers('fields', group.fields, fieldIds);
    checkMembers('metrics', group.metrics, [...this.#all('metrics').keys()]);
  }

  /** Throws USAGE when a tag goes that a saved analysis names. */
  #checkTags(before: TagsetDefinition, after: TagsetDefinition): void {
    const used = removedTag(before, after, this.list('saved_analyses'));
    if (used === undefined) return;
    throw new EngineError(
      'USAGE',
      `tag "${used.tagId}" of the tagset "${before.id}" cannot be removed: it is used by the ` +
        `${SINGULAR.saved_analyses} "${used.analysisId}"`,
    );
  }

  /**
   * Refuses a new id that would change a text: a declared id wins over a path of the same name, and a text that has
   * the name means the attribute, unless the field is that attribute.
   */
  #checkNewMeaning(kind: DefinitionKind, definition: Definition): void {
    if (kind !== 'fields' && kind !== 'tagsets') return;
    const { id } = definition;
    if ('attribute' in definition && [id, `custom.${id}`].includes(definition.attribute)) return;
    const user = this.#userOf(kind, id);
    if (user === undefined) return;
    throw new EngineError(
      'USAGE',
      `id "${id}" is the name of an attribute in the ${user}, which would mean another one`,
    );
  }

  /** The definition that uses a field, tagset or metric, as messages call it. Nothing uses the other kinds. */
  #userOf(kind: DefinitionKind, id: string): string | undefined {
    if (kind !== 'fields' && kind !== 'tagsets' && kind !== 'metrics') return undefined;
    const type = kind === 'metrics' ? 'metric' : 'field';
    const { rules } = this.#options;
    for (const userKind of DEFINITION_KINDS) {
      for (const user of this.#all(userKind).values()) {
        const references = referencesOf(userKind, user, rules);
        if (references.some((reference) => reference.type === type && reference.id === id)) {
          return `${SINGULAR[userKind]} "${user.id}"`;
        }
      }
    }
    return type === 'field' ? rules.filterUser(id) : undefined;
  }

  /** Writes a checked definition, and the changes that come with it. */
  async #put<K extends DefinitionKind>(
    kind: K,
    definition: DefinitionTypes[K],
    asker: Asker,
    what: string,
    along: Along,
  ): Promise<Changed<K>> {
    const { id } = definition;
    const set = along.set?.(definition);
    const made = set === undefined ? [] : missingOf(set, this);
    const entries: DefinitionEntry[] = [];
    const lines: AuditText[] = [];
    for (const [madeKind, one] of made) {
      this.#checkCount(madeKind, made.filter(([other]) => other === madeKind).length);
      entries.push({ type: 'definition', kind: madeKind, definition: one });
      lines.push({ ...asker, what: 'create', resource: madeKind, id: one.id, definition: one });
    }
    entries.push({ type: 'definition', kind, definition });
    lines.push({ ...asker, what, resource: kind, id, definition });
    const { position } = along;
    if (position !== undefined) {
      entries.push({ type: 'order', kind, ids: this.#moved(kind, id, position) });
      lines.push({ ...asker, what: 'move', resource: kind, id, position });
    }
    await this.#write(entries, lines);
    return { definition, made };
  }

  /** The ids of a kind when one of them, which may be new, stands at `position`. */
  #moved(kind: DefinitionKind, id: string, position: number): string[] {
    const ids = [...this.#all(kind).keys()].filter((other) => other !== id);
    if (position > ids.length) {
      throw new EngineError(
        'USAGE',
        `position ${position} is not allowed; allowed: 0 to ${ids.length}`,
      );
    }
    ids.splice(position, 0, id);
    return ids;
  }

  #checkCount(kind: DefinitionKind, moreCount: number): void {
    const count = this.#all(kind).size;
    if (count + moreCount <= DEFINITIONS_MAX) return;
    throw new EngineError('LIMIT', `there are ${count} ${kind}; allowed are ${DEFINITIONS_MAX}`);
  }

  async #write(entries: readonly DefinitionEntry[], lines: readonly AuditText[]): Promise<void> {
    const at = new Date(this.#options.nowMs()).toISOString();
    await this.#journal.write(
      entries,
      lines.map((line) => ({ at, ...line })),
    );
    for (const entry of entries) this.#apply(entry);
    this.#everMade = true;
    this.#everHadExtensions ||= entries.some(({ kind }) => kind === 'extensions');
    this.#version++;
    for (const changed of this.#watchers) changed();
  }

  #apply(entry: DefinitionEntry): void {
    const all: Map<string, Definition> = this.#all(entry.kind);
    if (entry.type === 'deleted') all.delete(entry.id);
    else if (entry.type === 'definition') all.set(entry.definition.id, entry.definition);
    else reorder(all, entry.ids);
  }
}

/** Puts the definitions with these ids into their order, before all others. */
function reorder(all: Map<string, Definition>, ids: readonly string[]): void {
  const before = new Map(all);
  all.clear();
  for (const id of [...ids, ...before.keys()]) {
    const definition = before.get(id);
    if (definition !== undefined) all.set(id, definition);
  }
}

/** Throws USAGE when a group has something twice or something that is not there. */
function checkMembers(parameter: string, ids: readonly string[], known: readonly string[]): void {
  const seen = new Set<string>();
  for (const [place, id] of ids.entries()) {
    if (!known.includes(id)) {
      const hint = nearestHint(id, known);
      throw new EngineError(
        'USAGE',
        `${parameter}[${place}] ${JSON.stringify(id.slice(0, 60))} is unknown;${hint} allowed: the ids of ${parameter}`,
      );
    }
    if (seen.has(id)) {
      throw new EngineError('USAGE', `${parameter}[${place}] "${id}" is there twice`);
    }
    seen.add(id);
  }
}

/** Opens the definitions of a data folder. Rejects with CORRUPTION when the file is not what was written. */
export async function openDefinitions(options: DefinitionsOptions): Promise<Definitions> {
  const { records, journal } = await openJournal(
    options.disk,
    DEFINITIONS_PATH,
    AUDIT_PATH,
    options.mustExist ?? false,
  );
  try {
    const entries = records.flatMap((record, number) =>
      readDefinitionEntries(record, number, options.rules.read),
    );
    const definitions = new Definitions(options, journal, entries);
    await journal.compact(fewestRecords(definitions, new Set(entries.map(({ kind }) => kind))));
    return definitions;
  } catch (error) {
    await journal.close();
    throw error;
  }
}

/** Records that come to these definitions, in their order. The first one tells which kinds there have ever been. */
function fewestRecords(
  definitions: Definitions,
  kinds: ReadonlySet<DefinitionKind>,
): DefinitionEntry[][] {
  const ever = [...kinds].map((kind): DefinitionEntry => ({ type: 'order', kind, ids: [] }));
  const records: DefinitionEntry[][] = [ever];
  for (const kind of kinds) {
    for (const definition of definitions.list(kind)) {
      records.push([{ type: 'definition', kind, definition }]);
    }
  }
  return records;
}
