import { ApiError } from './reply.ts';

/** Bytes of a request body of the output API. */
export const REQUEST_BYTES_MAX = 1_048_576;

/** Token that may come next at a place of a JSON text. */
type Expectation =
  | 'value'
  | 'value or ]'
  | 'name or }'
  | 'name'
  | ':'
  | ', or ]'
  | ', or }'
  | 'end';

/** The parameter whose numbers are values of events, which doubles need not be able to hold. */
const EXACT_PARAMETER = '"afterBucket"';

/** Parameters that null leaves out. */
const NULL_PARAMETERS: ReadonlySet<string> = new Set(['afterEvent', 'afterBucket', 'filters']);

/** Texts of the numbers that are not what their doubles print, by the object that they are in and their name there. */
const numberTexts = new WeakMap<object, Map<string, string>>();

const TOKEN =
  /[\t\n\r ]*(?:([{}[\],:])|("[ !#-[\]-\uffff]*(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[ !#-[\]-\uffff]*)*")|(-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null))/y;

/**
 * The JSON value of a body. Throws ApiError 400 naming the position of a syntax error (in UTF-16 units, from 0),
 * and 413 when there are more than REQUEST_BYTES_MAX. Names such as `__proto__` become own properties, as they are.
 */
export function parseJsonBody(body: Uint8Array): unknown {
  if (body.length > REQUEST_BYTES_MAX) {
    throw new ApiError(413, `the body has ${body.length} bytes; allowed: ${REQUEST_BYTES_MAX}`);
  }
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(body);
  } catch {
    throw new ApiError(400, 'the body is not UTF-8');
  }
  try {
    return text.includes(EXACT_PARAMETER) ? JSON.parse(text, keepNumberText) : JSON.parse(text);
  } catch {
    const fault = jsonFault(text);
    throw new ApiError(
      400,
      `the body is not JSON: at position ${fault.position}: expected ${fault.expected}`,
    );
  }
}

/**
 * The JSON value of the body of a query, without the parameters that are left out by null. Throws as `parseJsonBody`
 * does.
 */
export function parseQueryBody(body: Uint8Array): unknown {
  const value = parseJsonBody(body);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const members = Object.entries(value);
  return Object.fromEntries(
    members.filter(([name, member]) => member !== null || !NULL_PARAMETERS.has(name)),
  );
}

/** The text of a number of `afterBucket` as the body has it; `holder` is the object that it is in. */
export function numberTextIn(holder: object, name: string, value: number): string {
  return numberTexts.get(holder)?.get(name) ?? String(value);
}

/** A reviver of `JSON.parse`. What is beyond all doubles becomes the last of them, as a number has to be finite. */
function keepNumberText(
  this: object,
  name: string,
  value: unknown,
  context?: { source?: string },
): unknown {
  if (typeof value !== 'number' || context?.source === undefined) return value;
  if (String(value) === context.source) return value;
  const texts = numberTexts.get(this) ?? new Map<string, string>();
  numberTexts.set(this, texts.set(name, context.source));
  return Number.isFinite(value) ? value : Math.sign(value) * Number.MAX_VALUE;
}

/**
 * Finds the place where a text stops being JSON, and what was expected there. Only for texts that `JSON.parse`
 * refuses: its own messages do not always name the position, and quote the text.
 */
export function jsonFault(text: string): { position: number; expected: string } {
  const closers: string[] = [];
  let expected: Expectation = 'value';
  let at = 0;
  for (;;) {
    TOKEN.lastIndex = at;
    const token = TOKEN.exec(text);
    if (token === null) break;
    const [, sign, name] = token;
    const kind = sign ?? (name === undefined ? 'scalar' : 'string');
    const next = expectedAfter(expected, kind, closers);
    if (next === undefined) break;
    expected = next;
    at = TOKEN.lastIndex;
  }
  const blanks = /^[\t\n\r ]*/.exec(text.slice(at))?.[0].length ?? 0;
  return { position: at + blanks, expected };
}

/** Tokens that may follow `kind`; `undefined` when it may not stand there. Keeps the open brackets in `closers`. */
function expectedAfter(
  expected: Expectation,
  kind: string,
  closers: string[],
): Expectation | undefined {
  const wantsValue = expected === 'value' || expected === 'value or ]';
  if (wantsValue && (kind === '{' || kind === '[')) {
    closers.push(kind === '{' ? '}' : ']');
    return kind === '{' ? 'name or }' : 'value or ]';
  }
  if (wantsValue && (kind === 'scalar' || kind === 'string')) return afterValue(closers);
  if ((expected === 'name' || expected === 'name or }') && kind === 'string') return ':';
  if (expected === ':' && kind === ':') return 'value';
  if (expected === ', or }' && kind === ',') return 'name';
  if (expected === ', or ]' && kind === ',') return 'value';
  if (expected.endsWith(`or ${kind}`) && closers.at(-1) === kind) {
    closers.pop();
    return afterValue(closers);
  }
  return undefined;
}

function afterValue(closers: readonly string[]): Expectation {
  const closer = closers.at(-1);
  if (closer === undefined) return 'end';
  return closer === '}' ? ', or }' : ', or ]';
}
