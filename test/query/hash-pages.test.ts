import fc from 'fast-check';
import t from 'tap';
import {
  firstSlot,
  HashPages,
  NUMBER_SLOTS,
  nextSlot,
  type SlotForm,
} from '../../engine/query/value/hash-pages.ts';

const { words } = NUMBER_SLOTS;
const HASHES = 100_000;

/** Adds a number by its hash. */
function add(table: HashPages, number: number, hash: number): void {
  const page = table.pageOf(hash);
  let slot = firstSlot(page, hash, words);
  while (page[slot] !== 0) slot = nextSlot(page, slot, words);
  page[slot] = number + 1;
  page[slot + 1] = hash;
  table.took(hash);
}

/** The numbers of a hash, ascending. */
function numbersOf(table: HashPages, hash: number): number[] {
  const found: number[] = [];
  const page = table.pageOf(hash);
  for (let slot = firstSlot(page, hash, words); page[slot] !== 0; ) {
    if (page[slot + 1] === hash) found.push(page[slot] - 1);
    slot = nextSlot(page, slot, words);
  }
  return found.sort((left, right) => left - right);
}

t.test('all numbers of a hash are found, and none of one that has none', async () => {
  const hash = fc.oneof(fc.integer({ min: 0, max: 200 }), fc.integer());
  const hashes = fc.array(hash, { maxLength: 400 });
  fc.assert(
    fc.property(hashes, fc.integer({ min: 0, max: 8_000 }), (some, more) => {
      const all = [...some, ...Array.from({ length: more }, (_, at) => Math.imul(at, 0x01000193))];
      const table = new HashPages(NUMBER_SLOTS);
      const wanted = new Map<number, number[]>([[201, []]]);
      for (const [number, hash] of all.entries()) {
        add(table, number, hash);
        wanted.set(hash, [...(wanted.get(hash) ?? []), number]);
      }
      for (const [hash, numbers] of wanted) {
        if (numbersOf(table, hash).join() !== numbers.join()) return false;
      }
      return true;
    }),
    { numRuns: 30 },
  );
});

t.test('no page of a large table is large, also when hashes begin alike', async (t) => {
  for (const shift of [0, 8]) {
    const table = new HashPages(NUMBER_SLOTS);
    let most = 0;
    for (let number = 0; number < HASHES; number++) {
      const before = table.memoryBytes;
      add(table, number, Math.imul(number, 0x85ebca6b) >>> shift);
      if (number > HASHES / 10) most = Math.max(most, table.memoryBytes - before);
    }
    t.ok(most > 0 && most * 64 < table.memoryBytes, `${most} of ${table.memoryBytes} bytes`);
    t.ok(table.memoryBytes <= HASHES * 48);
  }
});

t.test('what is over goes when its page grows', async (t) => {
  const form: SlotForm = { ...NUMBER_SLOTS, isOver: (page, at) => page[at] - 1 < HASHES - 100 };
  const table = new HashPages(form);
  const hashOf = (number: number): number => Math.imul(number, 0x85ebca6b);
  for (let number = 0; number < HASHES; number++) add(table, number, hashOf(number));
  t.ok(table.memoryBytes < HASHES);
  for (let number = HASHES - 100; number < HASHES; number++) {
    t.same(numbersOf(table, hashOf(number)), [number]);
  }
});
