import type { Parameters } from './peer.ts';

/**
 * Takes from the data what questions ask for, so that they mean the same on any corpus with an access log's attributes.
 */

const COMMON_SHARE = 0.035;
const RARE_AT_LEAST = 2;
const MINUTE_MS = 60_000;
const LETTERS = 4;

/** Counts what a sample of events has. Keeps a count for each distinct word, address and request of the sample. */
export class Sample {
  readonly #words = new Map<string, number>();
  readonly #addresses = new Map<string, number>();
  readonly #requests = new Map<string, number>();
  readonly #hosts = new Map<string, number>();
  #events = 0;

  /** Takes in an event, a line of JSON as corpora of access logs make it. */
  add(line: string): void {
    const event: Record<string, unknown> = JSON.parse(line);
    this.#events++;
    for (const word of new Set(String(event['message']).match(/[A-Za-z0-9]+/g) ?? []))
      raise(this.#words, word);
    raise(this.#addresses, String(event['network.client_ip']));
    raise(this.#requests, String(event['http.request']));
    raise(this.#hosts, String(event['http.ident']));
  }

  /** Parameters of questions about events that lie in whole minutes around `firstMs` to `lastMs`. */
  parameters(firstMs: number, lastMs: number): Parameters {
    const commonWord = nearest(this.#lowerWords(), COMMON_SHARE * this.#events);
    const longer = [...this.#words.keys()].filter((word) => word !== commonWord);
    return {
      commonWord,
      commonWordStandsAlone: !longer.some((word) => word.includes(commonWord)),
      rareWord: rarest(this.#lowerWords()),
      substring: this.#lettersInside(),
      rareAddress: rarest(this.#addresses),
      rareRequest: middle([...this.#requests].filter(([, count]) => count === 1)),
      host: middle([...this.#hosts]),
      requestPattern: '/[a-m][a-z]+/.*[02468]',
      fromMs: Math.floor(firstMs / MINUTE_MS) * MINUTE_MS,
      toMs: (Math.floor(lastMs / MINUTE_MS) + 1) * MINUTE_MS,
    };
  }

  /** Words that are the same in any case, as Logseam looks for words in any case and others do not. */
  #lowerWords(): Map<string, number> {
    return new Map([...this.#words].filter(([word]) => word === word.toLowerCase()));
  }

  /** The letters in the middle of the most frequent word that has enough of them. */
  #lettersInside(): string {
    const long = [...this.#words].filter(([word]) => /^[a-z]{6,}$/.test(word));
    const [word] = long.sort((one, other) => other[1] - one[1])[0] ?? [''];
    return word.slice(1, 1 + LETTERS);
  }
}

function raise(counts: Map<string, number>, value: string): void {
  counts.set(value, (counts.get(value) ?? 0) + 1);
}

function byText(one: [string, number], other: [string, number]): number {
  return one[0] < other[0] ? -1 : 1;
}

/** The value whose count is the nearest to `wanted`. */
function nearest(counts: Map<string, number>, wanted: number): string {
  let best = '';
  let bestDistance = Number.POSITIVE_INFINITY;
  for (const [value, count] of counts) {
    const distance = Math.abs(count - wanted);
    if (distance < bestDistance) {
      best = value;
      bestDistance = distance;
    }
  }
  return best;
}

/** The middle one of the values with the least count that is not a mere accident of the sample. */
function rarest(counts: Map<string, number>): string {
  const repeated = [...counts].filter(([, count]) => count >= RARE_AT_LEAST);
  const least = Math.min(...new Set(repeated.map(([, count]) => count)));
  return middle(repeated.filter(([, count]) => count === least));
}

function middle(entries: [string, number][]): string {
  return entries.sort(byText)[entries.length >>> 1]?.[0] ?? '';
}
