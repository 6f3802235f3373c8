/** A request that works, and its answer, in the places where the description has them. */
export interface ApiExample {
  name: string;
  summary: string;
  parameters?: Readonly<Record<string, string | number | boolean>>;
  /** The first of the operation unless it is said. */
  type?: string;
  body?: unknown;
  /** 200 unless it is said. */
  status?: number;
  /** Content type of the reply; the first unless it is said. */
  replyType?: string;
  /** Shown reply. Values that each service makes anew, such as ids of events, differ there. */
  reply: unknown;
  /** Set when arrays of the reply have elements that are not shown here. */
  isExcerpt?: boolean;
}

/** Time range of the events in the examples. */
export const EXAMPLE_TIME = { from: '2026-03-01T10:00:00Z', to: '2026-03-01T11:00:00Z' };
/** Stands in examples for the write key. */
export const EXAMPLE_WRITE_KEY = 'vO3cU8Hh2nq0bRk5wYt7Zg';
/** Stands in examples for the id of the newest event. */
export const EXAMPLE_EVENT_ID = 'KftqqVJ0tHb0W4YvkmQXEw';
/** Stands in examples for the id of a view. */
export const EXAMPLE_VIEW_ID = '7d09c4e1f2a86b35';
