import fc from 'fast-check';
import t from 'tap';
import { must } from '../../engine/base/assert.ts';
import { SLOT_UNIT_BYTES, type Slot, SlotBudget, Slots } from '../../server/ingest/slots.ts';

const UNITS = 16;
const BASE_BYTES = 65_536;

function makeSlots(): Slots {
  const memory = new WebAssembly.Memory({ initial: UNITS + 1, maximum: UNITS + 1, shared: true });
  return new Slots(memory, BASE_BYTES);
}

t.test('a slot is the lowest free run that is large enough', async (t) => {
  const slots = makeSlots();
  const first = must(slots.reserve(1), 'slot');
  const second = must(slots.reserve(100_000), 'slot');
  const third = must(slots.reserve(1), 'slot');
  t.equal(first.start, BASE_BYTES);
  t.equal(second.start, BASE_BYTES + SLOT_UNIT_BYTES);
  t.equal(third.start, BASE_BYTES + 3 * SLOT_UNIT_BYTES);
  slots.release(first);
  t.equal(slots.reserve(100_000)?.start, BASE_BYTES + 4 * SLOT_UNIT_BYTES);
  t.equal(slots.reserve(1)?.start, BASE_BYTES);
});

t.test('a slot leaves 64 bytes of its units as padding', async (t) => {
  const slots = makeSlots();
  t.equal(slots.reserve(SLOT_UNIT_BYTES - 64)?.capacityBytes, SLOT_UNIT_BYTES - 64);
  t.equal(slots.reserve(SLOT_UNIT_BYTES - 63)?.capacityBytes, 2 * SLOT_UNIT_BYTES - 64);
  t.equal(slots.reserve(UNITS * SLOT_UNIT_BYTES), undefined);
});

t.test(
  'bodies of several memories take no more than their budget, and grow within it',
  async (t) => {
    const budget = new SlotBudget(() => 20 * SLOT_UNIT_BYTES, 2 * SLOT_UNIT_BYTES);
    const makeOne = (): Slots => {
      const memory = new WebAssembly.Memory({ initial: UNITS, maximum: UNITS, shared: true });
      return new Slots(memory, 0, UNITS * SLOT_UNIT_BYTES, 0, budget);
    };
    const [one, other] = [makeOne(), makeOne()];
    const first = must(one.reserveBody(12 * SLOT_UNIT_BYTES - 64), 'slot');
    const second = must(other.reserveBody(4 * SLOT_UNIT_BYTES - 64), 'slot');
    const grown = must(other.grow(second, 1, 6 * SLOT_UNIT_BYTES - 64), 'slot');
    t.equal(other.grow(grown, 1, 6 * SLOT_UNIT_BYTES), undefined, 'some is left to who begins');
    t.ok(other.isOverBudget(1));
    const small = must(one.reserveBody(2 * SLOT_UNIT_BYTES - 64), 'slot');
    t.equal(one.reserveBody(1), undefined);
    one.release(small);
    one.release(first);
    t.ok(other.grow(grown, 1, 14 * SLOT_UNIT_BYTES - 64));
    t.equal(budget.leftBytes, 6 * SLOT_UNIT_BYTES);
  },
);

t.test(
  'content of any length and alignment is written as it is, and nothing beside it',
  async (t) => {
    const slots = makeSlots();
    const content = Uint8Array.from({ length: 300_000 }, (_, index) => 1 + (index % 251));
    const property = fc.property(
      fc.nat(64),
      fc.oneof(fc.nat(300), fc.integer({ min: 65_500, max: 65_600 }), fc.nat(250_000)),
      fc.nat(64),
      (from, length, offset) => {
        const at = BASE_BYTES + 64 + offset;
        const piece = content.subarray(from, from + length);
        slots.bytes.fill(0);
        slots.write(piece, at);
        const written = slots.bytes.slice(at, at + length);
        return (
          Buffer.compare(written, piece) === 0 &&
          slots.bytes[at - 1] === 0 &&
          slots.bytes[at + length] === 0
        );
      },
    );
    t.doesNotThrow(() => fc.assert(property, { numRuns: 200 }));
  },
);

t.test('a slot that grows keeps its content, and stays when there is no room', async (t) => {
  const slots = makeSlots();
  const small = must(slots.reserve(10), 'slot');
  slots.bytes.set([1, 2, 3], small.start);
  const large = must(slots.grow(small, 3, 200_000), 'slot');
  t.same([...slots.bytes.subarray(large.start, large.start + 3)], [1, 2, 3]);
  t.equal(slots.grow(large, 3, 100), large);
  t.equal(slots.grow(large, 3, UNITS * SLOT_UNIT_BYTES), undefined);
  slots.release(large);
  t.equal(slots.freeBytes, slots.totalBytes);
});

t.test('a slot cannot be given back twice', async (t) => {
  const slots = makeSlots();
  const slot = must(slots.reserve(1), 'slot');
  slots.release(slot);
  t.throws(() => slots.release(slot), /assertion failed/);
});

t.test('slots never overlap, and all room comes back', async () => {
  const steps = fc.array(
    fc.oneof(
      fc.record({ reserve: fc.integer({ min: 0, max: 5 * SLOT_UNIT_BYTES }) }),
      fc.record({ release: fc.nat(30) }),
    ),
    { maxLength: 80 },
  );
  fc.assert(
    fc.property(steps, (list) => {
      const slots = makeSlots();
      const held: Slot[] = [];
      for (const step of list) {
        if ('release' in step) {
          const [slot] = held.splice(step.release, 1);
          if (slot !== undefined) slots.release(slot);
          continue;
        }
        const slot = slots.reserve(step.reserve);
        if (slot === undefined) continue;
        const end = slot.start + slot.capacityBytes;
        const sound =
          slot.start % 64 === 0 &&
          slot.start >= BASE_BYTES &&
          slot.capacityBytes >= step.reserve &&
          end + 64 <= slots.bytes.length &&
          held.every(
            (other) => end < other.start || other.start + other.capacityBytes < slot.start,
          );
        if (!sound) return false;
        held.push(slot);
      }
      for (const slot of held) slots.release(slot);
      return (
        slots.freeBytes === slots.totalBytes &&
        slots.reserve(UNITS * SLOT_UNIT_BYTES - 64) !== undefined
      );
    }),
  );
});
