import { EngineError } from '../../engine/base/errors.ts';
import {
  DEFINITION_KINDS,
  type Definition,
  type DefinitionKind,
  type DefinitionTypes,
} from './definition.ts';
import { checkDefinitionId } from './definition-id.ts';

/**
 * An entry of a record in the file `definitions`: a definition from now on, the id of a deleted one, or the order of
 * all ids of a kind (those made later come behind them).
 */
export type DefinitionEntry =
  | { type: 'definition'; kind: DefinitionKind; definition: Definition }
  | { type: 'deleted'; kind: DefinitionKind; id: string }
  | { type: 'order'; kind: DefinitionKind; ids: readonly string[] };

/** Checks a record of the file `definitions`. Throws CORRUPTION naming its number and what is wrong. */
export function readDefinitionEntries(
  record: unknown,
  recordNumber: number,
  read: <K extends DefinitionKind>(kind: K, value: unknown) => DefinitionTypes[K],
): DefinitionEntry[] {
  try {
    if (!Array.isArray(record)) throw new Error('not a list');
    return record.map((entry) => readEntry(entry, read));
  } catch (cause) {
    const message = cause instanceof Error ? cause.message : String(cause);
    throw new EngineError('CORRUPTION', `record ${recordNumber} of definitions: ${message}`, {
      cause,
    });
  }
}

function readEntry(
  entry: unknown,
  read: <K extends DefinitionKind>(kind: K, value: unknown) => DefinitionTypes[K],
): DefinitionEntry {
  if (typeof entry !== 'object' || entry === null) throw new Error('an entry that is no object');
  const { type, kind: named, id, ids, definition }: Record<string, unknown> = { ...entry };
  const kind = DEFINITION_KINDS.find((known) => known === named);
  if (kind === undefined) throw new Error('an entry of an unknown kind');
  if (type === 'deleted' && typeof id === 'string') return { type, kind, id };
  if (type === 'order' && isTexts(ids)) return { type, kind, ids };
  if (type !== 'definition') throw new Error('an entry of an unknown type');
  const checked = read(kind, definition);
  checkDefinitionId(checked.id, 'id');
  return { type, kind, definition: checked };
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((element) => typeof element === 'string');
}
