/** Milliseconds of a day without a clock change, as UTC days are. */
export const DAY_MS = 86_400_000;
