import { Operation, type Pattern, type Program } from '../../base/pattern.ts';
import type { LiteralFinder } from './literal.ts';

/** States of an automaton at most: those of most patterns are some ten. */
const STATES_MAX = 128;
const CHARACTERS = 128;
/** Instructions that are looked at for an automaton at most, which takes some milliseconds. */
const LOOKS_MAX = 1 << 14;
/** The state from which no text matches, and that before the first character. */
const DEAD = 0;
const BEGIN = 1;
/** Assertions of the begin and the end of a text. Source: re2js, Utils. */
const BEGIN_TEXT = 4;
const END_TEXT = 8;

/**
 * Literal and automaton that are looked for in texts: all that pass have the one, and the whole of them matches the
 * other. There is one of both at least.
 */
export interface TextQuestion {
  readonly finder?: LiteralFinder | undefined;
  readonly automaton?: ByteAutomaton | undefined;
}

/** A question to a kernel about texts. */
export interface TextSearch extends TextQuestion {
  /** True when texts pass that are found; otherwise they have to be tested. */
  readonly isExact: boolean;
  /** True when it is right of texts alone for which `keepsLetters`. */
  readonly needsLetters: boolean;
}

/**
 * Tables of an automaton, whose states are numbered from the one from which no text matches, 0; behind it come those
 * from which on the last character tells all, and then, from `stops` on, the others.
 */
export interface StateTables {
  /** The state before the first character. */
  begin: number;
  stops: number;
  /** By state and ASCII character the next state. */
  steps: Uint8Array;
  /** 1 when a text may end in a state. */
  accepts: Uint8Array;
  /** By state below `stops` and ASCII character 1 when a text matches that goes on and ends with it. */
  lasts: Uint8Array;
  /** By ASCII character 1 when a text may end with it. */
  ends: Uint8Array;
}

/** Instructions that take a character, and whether a text may end there. */
interface Places {
  taking: readonly number[];
  accepts: boolean;
  /** Instructions that were looked at. */
  looks: number;
}

/**
 * A pattern as an automaton of one state at a time, which matches whole texts of ASCII characters. Source: Rabin and
 * Scott, Finite automata and their decision problems.
 */
export class ByteAutomaton {
  readonly tables: StateTables;

  private constructor(tables: StateTables) {
    this.tables = tables;
  }

  /** The automaton of a program; `undefined` when that asks for borders of words or lines, or has too many states. */
  static of(program: Program): ByteAutomaton | undefined {
    const states = statesOf(program);
    return states && new ByteAutomaton(tablesOf(states));
  }

  /** Matches a whole text; `undefined` when a character beyond ASCII has to be known. */
  match(bytes: Uint8Array, start: number, end: number): boolean | undefined {
    const { begin, steps, accepts } = this.tables;
    let state = begin;
    for (let at = start; at < end; at++) {
      if (bytes[at] >= CHARACTERS) return undefined;
      state = steps[state * CHARACTERS + bytes[at]];
      if (state === DEAD) return false;
    }
    return accepts[state] === 1;
  }
}

/** Automata of the patterns that were asked for last, by their sources. */
const KEPT_MAX = 32;
const kept = new Map<string, ByteAutomaton | undefined>();

/** The automaton of a pattern; `undefined` as for `ByteAutomaton.of`. It is kept for the next query with that. */
export function automatonOf({ source, program }: Pattern): ByteAutomaton | undefined {
  const known = kept.get(source);
  if (known !== undefined || kept.has(source)) return known;
  const automaton = ByteAutomaton.of(program);
  if (kept.size === KEPT_MAX) kept.clear();
  kept.set(source, automaton);
  return automaton;
}

/** ASCII characters in classes: those of one are taken by the same instructions. */
interface CharacterClasses {
  /** By character its class. */
  of: Uint8Array;
  /** A character of each class. */
  firsts: readonly number[];
}

/** States with the steps between them, one after the other. */
interface States {
  classes: CharacterClasses;
  accepts: boolean[];
  /** By state and class of characters the next state. */
  steps: Uint8Array[];
}

function statesOf(program: Program): States | undefined {
  const takes = charactersOf(program);
  const classes = classesOf(takes);
  const classCount = classes.firsts.length;
  const numbers = new Map<string, number>();
  const states: States = { classes, accepts: [false], steps: [new Uint8Array(classCount)] };
  const left: Places[] = [];
  let looks = 0;
  const numberOf = (behind: readonly number[], isBegin: boolean): number | undefined => {
    const places = placesOf(program, behind, isBegin);
    if (places === undefined) return undefined;
    looks += places.looks;
    if (looks > LOOKS_MAX) return undefined;
    if (places.taking.length === 0 && !places.accepts && !isBegin) return DEAD;
    const key = `${places.taking} ${places.accepts}`;
    let number = isBegin ? undefined : numbers.get(key);
    if (number !== undefined) return number;
    number = states.accepts.length;
    if (number === STATES_MAX) return undefined;
    // Before the first character assertions hold that do not behind it.
    if (!isBegin) numbers.set(key, number);
    states.accepts.push(places.accepts);
    states.steps.push(new Uint8Array(classCount));
    left.push(places);
    return number;
  };
  if (numberOf([program.start], true) === undefined) return undefined;
  for (let state = BEGIN; state < states.steps.length; state++) {
    const { taking } = left[state - BEGIN];
    for (const [place, character] of classes.firsts.entries()) {
      const behind = taking.filter((instruction) => takes[instruction]?.[character] === 1);
      if (behind.length === 0) continue;
      const next = numberOf(
        behind.map((instruction) => program.inst[instruction].out),
        false,
      );
      if (next === undefined) return undefined;
      states.steps[state][place] = next;
    }
  }
  return states;
}

function classesOf(takes: readonly (Uint8Array | undefined)[]): CharacterClasses {
  const taking = takes.filter((characters) => characters !== undefined);
  const numbers = new Map<string, number>();
  const of = new Uint8Array(CHARACTERS);
  const firsts: number[] = [];
  for (let character = 0; character < CHARACTERS; character++) {
    const takers = taking.map((characters) => characters[character]).join('');
    const known = numbers.get(takers);
    of[character] = known ?? firsts.length;
    if (known !== undefined) continue;
    numbers.set(takers, firsts.length);
    firsts.push(character);
  }
  return { of, firsts };
}

/** By instruction that takes a character the ASCII ones that it takes: 1 by character. */
function charactersOf({ inst }: Program): (Uint8Array | undefined)[] {
  return inst.map((instruction) => {
    const { op } = instruction;
    if (op < Operation.RUNE || op > Operation.ANY_IN_LINE) return undefined;
    return Uint8Array.from({ length: CHARACTERS }, (_, character) => {
      if (op === Operation.ANY) return 1;
      if (op === Operation.ANY_IN_LINE) return character === 0x0a ? 0 : 1;
      return instruction.matchRune(character) ? 1 : 0;
    });
  });
}

/** Where a text may go on, and whether it may end, behind instructions; `undefined` of one that is not known here. */
function placesOf(
  { inst }: Program,
  behind: readonly number[],
  isBegin: boolean,
): Places | undefined {
  const taking = new Set<number>();
  /** Instructions that were reached, and those that are if the text ends. */
  const reached = new Set<number>();
  const atEnd = new Set<number>();
  let accepts = false;
  const go = (from: readonly number[], ends: boolean): boolean => {
    const left = [...from];
    for (let at = left.pop(); at !== undefined; at = left.pop()) {
      const seen = ends ? atEnd : reached;
      if (seen.has(at)) continue;
      seen.add(at);
      const { op, out, arg } = inst[at];
      if (op === Operation.ALT) left.push(out, arg);
      else if (op === Operation.CAPTURE || op === Operation.NOP) left.push(out);
      else if (op === Operation.EMPTY_WIDTH) {
        if ((arg & ~(BEGIN_TEXT | END_TEXT)) !== 0) return false;
        const holds = (arg & BEGIN_TEXT) === 0 || isBegin;
        if (holds && (ends || (arg & END_TEXT) === 0)) left.push(out);
      } else if (op === Operation.MATCH) accepts ||= ends;
      else if (op >= Operation.RUNE && op <= Operation.ANY_IN_LINE) {
        if (!ends) taking.add(at);
      } else if (op !== Operation.FAIL) return false;
    }
    return true;
  };
  if (!go(behind, false) || !go(behind, true)) return undefined;
  const looks = reached.size + atEnd.size;
  return { taking: [...taking].sort((one, other) => one - other), accepts, looks };
}

function tablesOf(states: States): StateTables {
  const { classes } = states;
  const lasts = states.steps.map((_, state) => lastOf(states, state));
  // The dead state is the first one, and one of those.
  const order = [...lasts.keys()].sort((one, other) => Number(!lasts[one]) - Number(!lasts[other]));
  const places = new Uint8Array(order.length);
  for (const [place, state] of order.entries()) places[state] = place;
  const stops = lasts.filter((last) => last !== undefined).length;
  const steps = new Uint8Array(order.length * CHARACTERS);
  const accepts = new Uint8Array(order.length);
  const ends = new Uint8Array(CHARACTERS);
  const all = new Uint8Array(stops * CHARACTERS);
  for (const [place, state] of order.entries()) {
    accepts[place] = states.accepts[state] ? 1 : 0;
    const step = states.steps[state];
    const last = lasts[state];
    for (const [character, number] of classes.of.entries()) {
      const next = step[number];
      steps[place * CHARACTERS + character] = places[next];
      if (states.accepts[next]) ends[character] = 1;
      if (last !== undefined) all[place * CHARACTERS + character] = last[number];
    }
  }
  return { begin: places[BEGIN], stops, steps, accepts, lasts: all, ends };
}

/** By class of characters, whether a text matches that ends with one, when all states behind `state` say the same. */
function lastOf({ steps, accepts }: States, state: number): Uint8Array | undefined {
  const last = steps[state].map((next) => (accepts[next] ? 1 : 0));
  const behind = new Set(steps[state]);
  for (const one of behind) {
    for (const [place, next] of steps[one].entries()) {
      if (last[place] !== (accepts[next] ? 1 : 0)) return undefined;
      behind.add(next);
    }
  }
  return last;
}
