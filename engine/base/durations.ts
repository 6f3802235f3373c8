/** Milliseconds of a minute. */
export const MINUTE_MS = 60_000;

/** Milliseconds of an hour. */
export const HOUR_MS = 3_600_000;

/** Milliseconds of a day without a clock change, as UTC days are. */
export const DAY_MS = 86_400_000;
