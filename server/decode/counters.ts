/** Limits and repairs that decoding applied since the decoder was made. Source: INTERFACE.md 8. */
export interface DecodeCounters {
  /** Lines that were longer than an event may be and lost their end. */
  linesCut: number;
  /** Subtrees that became text because they were too deep. */
  subtreesTooDeep: number;
  /** Events whose last attributes went to `custom._excess` because there were too many. */
  eventsTooWide: number;
  /** Attributes that went to `custom._excess` because of their name: too long, or one name too many. */
  namesRefused: number;
  /** Attributes that went to `custom._excess` because their write key had brought as many names as it may that day. */
  namesOverBudget: number;
  /** Events whose date attributes are all unreadable. */
  datesUnread: number;
  /** Events in which U+FFFD stands for bytes that were not UTF-8. */
  textsRepaired: number;
  /** Events in which an extension was left out: it failed, or those before it had made the event too large. */
  extensionsFailed: number;
  /**
   * Events that an extension's patterns were not tried on, as they could have cost more than an event or its body may.
   */
  patternsOverBudget: number;
}

/** Counts of nothing. */
export function noDecodeCounters(): DecodeCounters {
  return {
    linesCut: 0,
    subtreesTooDeep: 0,
    eventsTooWide: 0,
    namesRefused: 0,
    namesOverBudget: 0,
    datesUnread: 0,
    textsRepaired: 0,
    extensionsFailed: 0,
    patternsOverBudget: 0,
  };
}

/** Makes counts those of nothing. */
export function clearCounters(counters: DecodeCounters): void {
  counters.linesCut = 0;
  counters.subtreesTooDeep = 0;
  counters.eventsTooWide = 0;
  counters.namesRefused = 0;
  counters.namesOverBudget = 0;
  counters.datesUnread = 0;
  counters.textsRepaired = 0;
  counters.extensionsFailed = 0;
  counters.patternsOverBudget = 0;
}

/** Receives each line or element of a body, `source[start, end)`, for which something was counted. */
export type TroubleWatch = (
  counters: Readonly<DecodeCounters>,
  source: Uint8Array,
  start: number,
  end: number,
) => void;

/** All counts together: it grows when something is counted. */
export function countedSum(counters: Readonly<DecodeCounters>): number {
  const { linesCut, subtreesTooDeep, eventsTooWide, namesRefused, namesOverBudget } = counters;
  const { datesUnread, textsRepaired, extensionsFailed, patternsOverBudget } = counters;
  const ofLimits = linesCut + subtreesTooDeep + eventsTooWide + namesRefused + namesOverBudget;
  return ofLimits + datesUnread + textsRepaired + extensionsFailed + patternsOverBudget;
}
