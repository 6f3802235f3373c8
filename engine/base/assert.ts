/**
 * Ends the process' current task when a programmer's assumption does not hold.
 * On in production; never used for what a user or a file can get wrong (see errors.ts). The message is made whether it
 * is shown or not: where each group of rows comes by it has no numbers.
 */
export function assert(condition: boolean, message: string): asserts condition {
  if (!condition) throw new Error(`assertion failed: ${message}`);
}

/** Returns `value`, asserting that it is there. Used instead of the `!` operator. */
export function must<T>(value: T | undefined | null, what: string): T {
  assert(value !== undefined && value !== null, `${what} is missing`);
  return value;
}

/** Asserts at compile time and at run time that a switch has handled every case. */
export function unreachable(value: never): never {
  throw new Error(`assertion failed: unexpected ${String(value)}`);
}
