import type { Refusal } from './refusal.ts';

/** Bytes of a body, inflated, that a dry run takes. */
export const DRY_BYTES_MAX = 1_048_576;
/** Events that a dry run shows. */
export const DRY_EVENTS_MAX = 100;

/** The body of a dry run is too large. */
export const DRY_TOO_LARGE: Refusal = {
  status: 413,
  message: `the body is too large for a dry run; allowed: ${DRY_BYTES_MAX} bytes`,
};

/** The body of a dry run has too many events. */
export const DRY_TOO_MANY: Refusal = {
  status: 413,
  message: `the body has too many events for a dry run; allowed: ${DRY_EVENTS_MAX}`,
};

/** Characters of all events of a dry run: extensions can make much of little. */
export const DRY_CHARACTERS_MAX = 16_777_216;

/** The events of a dry run are too long to be shown. */
export const DRY_TOO_LONG: Refusal = {
  status: 413,
  message: `what the extensions find in the body is too long for a dry run; allowed: ${DRY_CHARACTERS_MAX} characters`,
};
