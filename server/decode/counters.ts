/** What the limits and repairs of decoding did, counted since the decoder was made. Source: decisions.md 3.7. */
export interface DecodeCounters {
  /** Lines that were longer than an event may be and lost their end. */
  linesCut: number;
  /** Subtrees that became text because they were too deep. */
  subtreesTooDeep: number;
  /** Events whose last attributes went to `custom._excess` because there were too many. */
  eventsTooWide: number;
  /** Attributes that went to `custom._excess` because of their name: too long, or one name too many. */
  namesRefused: number;
  /** Events that have date attributes of which none could be read. */
  datesUnread: number;
  /** Events in which U+FFFD stands for bytes that were not UTF-8. */
  textsRepaired: number;
}
