import { sameBytes } from '../../../engine/base/hash.ts';

/** Half of a pair of UTF-16, which may stand for the half of any. */
const HALF = /\p{Surrogate}/u;
const MISSING = -1;

/** A literal behind others, and where it was found last. */
interface Link {
  literal: Uint8Array;
  next: Map<string, Link>;
  /** The text for which that was looked up, by number, and the offset behind it, or MISSING. */
  text: number;
  behind: number;
}

/** Literals that stand one behind the other, and whether the text with that number has them. */
export interface Chain {
  readonly links: readonly Link[];
  text: number;
  has: boolean;
}

/**
 * Tells of lists of literals which of them a text has, one literal behind the other. What lists have in common at their
 * beginnings is looked for once a text. Owned by one thread.
 */
export class LiteralChains {
  readonly #first = new Map<string, Link>();
  /** By their last links. */
  readonly #chains = new Map<Link | undefined, Chain>();
  #text = 0;
  #bytes: Uint8Array = new Uint8Array(0);
  #start = 0;
  #end = 0;

  /** The chain of a list of literals; every text has that of a list with what is not well formed. */
  of(literals: readonly string[]): Chain {
    const known = HALF.test(literals.join('\n')) ? [] : literals;
    let next = this.#first;
    const links = known.map((literal) => {
      let link = next.get(literal);
      if (link === undefined) {
        link = { literal: Buffer.from(literal), next: new Map(), text: 0, behind: MISSING };
        next.set(literal, link);
      }
      next = link.next;
      return link;
    });
    const chain = this.#chains.get(links.at(-1)) ?? { links, text: 0, has: false };
    this.#chains.set(links.at(-1), chain);
    return chain;
  }

  /** Turns to the text `bytes[start, end)`, well-formed UTF-8. */
  begin(bytes: Uint8Array, start: number, end: number): void {
    this.#text++;
    this.#bytes = bytes;
    this.#start = start;
    this.#end = end;
  }

  /** Reports whether the text has a chain. */
  has(chain: Chain): boolean {
    if (chain.text !== this.#text) {
      chain.text = this.#text;
      chain.has = this.#find(chain);
    }
    return chain.has;
  }

  #find({ links }: Chain): boolean {
    let at = this.#start;
    for (const link of links) {
      if (link.text !== this.#text) {
        link.text = this.#text;
        link.behind = this.#behind(link.literal, at);
      }
      at = link.behind;
      if (at === MISSING) return false;
    }
    return true;
  }

  #behind(literal: Uint8Array, from: number): number {
    const bytes = this.#bytes;
    const { length } = literal;
    const first = literal[0];
    const last = this.#end - length;
    let at = from;
    for (; at <= last; at++) {
      if (bytes[at] === first && (length === 1 || sameBytes(bytes, at, literal, 0, length)))
        return at + length;
    }
    return MISSING;
  }
}
