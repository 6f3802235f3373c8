import { EngineError } from '../../engine/base/errors.ts';

/** Characters of an id. */
export const ID_CHARACTERS_MAX = 64;

const ID = /^[A-Za-z0-9_][A-Za-z0-9_.-]*$/;
const SHOWN_MAX = 60;

/** Throws USAGE unless `id` is 1 to 64 letters, digits, `_`, `.` and `-`, so that it stands in an address as it is. */
export function checkDefinitionId(id: string, parameter: string): void {
  if (id.length <= ID_CHARACTERS_MAX && ID.test(id)) return;
  const shown = JSON.stringify(id.length > SHOWN_MAX ? `${id.slice(0, SHOWN_MAX)}...` : id);
  throw new EngineError(
    'USAGE',
    `${parameter} ${shown} is not allowed; allowed: 1 to ${ID_CHARACTERS_MAX} of A-Z a-z 0-9 _ . -, ` +
      'beginning with none of . -',
  );
}

/**
 * An id made from a name: `Réponse (ms)` becomes `reponse_ms`. Words are joined by `_`, which formulas need no blanks
 * around; a number goes behind an id that is taken; `fallback` stands for a name without Latin letters or digits.
 */
export function idFromName(
  name: string,
  fallback: string,
  isTaken: (id: string) => boolean,
): string {
  const words = name
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .match(/[a-z0-9]+/g);
  const base = (words?.join('_') ?? fallback).slice(0, ID_CHARACTERS_MAX - 8);
  let id = base;
  for (let number = 2; isTaken(id); number++) id = `${base}_${number}`;
  return id;
}
