/** An attribute that a request adds to each of its events. */
export interface EnrichmentAttribute {
  /** Its place: the names of a dotted attribute name, `['client', 'ip']`. Not empty. */
  names: string[];
  value: string;
  /** Whether it replaces what the event has at its place; otherwise what the event has stays. */
  replaces: boolean;
}

/**
 * What a request adds to each of its events: `hostname`, `appname`, `username` of the query, and what
 * `X-Service-Add-IP` and `X-Service-Add-UserAgent` ask for. Plain data that crosses threads.
 * Source: INTERFACE.md 4.4.
 */
export interface Enrichment {
  attributes: EnrichmentAttribute[];
}
