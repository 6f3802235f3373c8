/** Least and greatest value of a chunk. May be wider than the values, never narrower. */
export interface Zone {
  min: number;
  max: number;
}
