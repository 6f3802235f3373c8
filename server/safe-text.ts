/** Characters that steer terminals or reorder text and that JSON leaves as they are. */
const STEERING = /[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g;

/** A run of exactly as many key characters as a key has, or a token: never let through, wherever it came from. */
const SECRET = /(?<![\w-])(?:[\w-]{22}|[\w-]{43})(?![\w-])/g;
const KEY_LENGTH = 22;
/** A name such as `ERR_WORKER_INIT_FAILED`, which a random key never looks like. */
const NAME = /^(?:[A-Z_]+|[a-z_]+)$/;
/** A run that may hold a key, with what stands before or behind it. */
const LONG = /[\w-]{16,}/g;

/** A JSON text with the characters escaped that steer terminals or reorder text. */
export function withoutSteering(json: string): string {
  return json.replace(
    STEERING,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** A text in which `<key>` stands for tokens and keys: what may be one, unless `isKey` knows the keys. */
export function withoutKeys(text: string, isKey = mayBeKey): string {
  return text.replace(SECRET, (run) => {
    const isSecret = run.length === KEY_LENGTH ? isKey(run) : mayBeKey(run);
    return isSecret ? '<key>' : run;
  });
}

function mayBeKey(run: string): boolean {
  return !NAME.test(run);
}

/** A text of short words, such as a path, in which `<key>` stands for what may hold a key. */
export function withoutLongWords(text: string): string {
  return text.replace(LONG, '<key>');
}
