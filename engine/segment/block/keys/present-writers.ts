/** Numbers of writers. Source: FORMAT.md 8. */
const WRITERS = 256;

/** Writer and sequence of each row of a block. */
export interface RowKeys {
  writers: Uint8Array;
  sequences: Float64Array;
}

/** The writers that rows have, ascending, the place of each among them by its number, and how many rows it has. */
export function presentWriters(writers: Uint8Array): {
  present: number[];
  ranks: Uint8Array;
  countOf: Uint32Array;
} {
  const countOf = new Uint32Array(WRITERS);
  for (let row = 0; row < writers.length; row++) countOf[writers[row]]++;
  const present: number[] = [];
  const ranks = new Uint8Array(WRITERS);
  for (let writer = 0; writer < WRITERS; writer++) {
    if (countOf[writer] > 0) ranks[writer] = present.push(writer) - 1;
  }
  return { present, ranks, countOf };
}
