/** An attribute that a request adds to each of its events. */
export interface EnrichmentAttribute {
  /** Its place: the names of a dotted attribute name, `['client', 'ip']`. Not empty. */
  names: string[];
  value: string;
  /** Replaces the event's value at this place if set; otherwise the event's value stays. */
  replaces: boolean;
}

/**
 * Attributes that a request adds to each of its events: `hostname`, `appname`, `username` of the query, and those
 * that `X-Service-Add-IP` and `X-Service-Add-UserAgent` name. Plain data that crosses threads. Source: INTERFACE.md
 * 4.4.
 */
export interface Enrichment {
  attributes: EnrichmentAttribute[];
}
