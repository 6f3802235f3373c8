/**
 * Kind of a leaf of an event. NULL and OBJECT (an empty one) live in the shape alone. Every other kind has a column,
 * so a number that is sometimes a string makes two columns under one path. BOOLEAN and the rest are values of their
 * own columns, because they would multiply shapes. ARRAY is its JSON text without insignificant blanks; DATE is a
 * text that one of the forms in date-form.ts prints. The numbers are on disk. Source: FORMAT.md 4.
 */
export const Kind = {
  NULL: 0,
  OBJECT: 1,
  BOOLEAN: 2,
  NUMBER: 3,
  STRING: 4,
  ARRAY: 5,
  DATE: 6,
} as const;

/** One of the values of `Kind`. */
export type Kind = (typeof Kind)[keyof typeof Kind];

/** Kinds below this one have no column. */
export const KIND_COLUMN_MIN: Kind = Kind.BOOLEAN;

/** Bits that a kind needs in a packed (path, kind) pair. */
export const KIND_BITS = 3;
