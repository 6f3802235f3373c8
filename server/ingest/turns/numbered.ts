import { assert } from '../../../engine/base/assert.ts';

/**
 * Things that come and go by the thousand a second, by numbers that are given again. Where a `Map` is full of entries
 * that are over it makes a new table, and the old one, as soon as it is an old object, keeps the new one alive, and
 * with it all that was in there, until all old objects are collected.
 */
export class Numbered<Thing extends object> {
  readonly #things: (Thing | undefined)[] = [];
  readonly #free: number[] = [];

  get size(): number {
    return this.#things.length - this.#free.length;
  }

  /** Adds a thing; returns its number. */
  add(thing: Thing): number {
    const number = this.#free.pop() ?? this.#things.length;
    this.#things[number] = thing;
    return number;
  }

  /** The thing with a number; `undefined` when there is none. */
  get(number: number): Thing | undefined {
    return this.#things[number];
  }

  /** Takes away the thing with a number, which is there. */
  delete(number: number): void {
    assert(this.#things[number] !== undefined, 'what goes is there');
    this.#things[number] = undefined;
    this.#free.push(number);
  }

  /** The numbers of all things, in their order. */
  *numbers(): Generator<number> {
    for (let number = 0; number < this.#things.length; number++) {
      if (this.#things[number] !== undefined) yield number;
    }
  }

  /** All things, in the order of their numbers. */
  *[Symbol.iterator](): Generator<Thing> {
    for (const thing of this.#things) if (thing !== undefined) yield thing;
  }
}
