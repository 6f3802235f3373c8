import fc from 'fast-check';
import t from 'tap';
import { noDecodeCounters } from '../../server/decode/counters.ts';
import { Draft } from '../../server/extend/draft.ts';
import type { Attributes, ExtractedValue } from '../../server/extend/extraction.ts';
import { NumberText } from '../../server/extend/extraction.ts';
import { Decoding } from '../support/decoding.ts';

const KEY = '0123456789abcdef';

/** Drafts of one form, and what became of each event. */
class Form extends Decoding {
  readonly draft: Draft;

  /** Changes are made in the tree when `isPlain`, else in the row as long as that goes. */
  constructor(isPlain: boolean) {
    super();
    const isKey = (bytes: Uint8Array, start: number, end: number): boolean =>
      Buffer.from(bytes.subarray(start, end)).toString() === KEY;
    this.draft = new Draft(this.paths, this.rows, this.decoder.counters, isKey, isPlain);
  }

  /** An event after its changes: what each change gave, the event, its date, and what was counted. */
  changed(event: string, changes: readonly Change[]): string {
    Object.assign(this.decoder.counters, noDecodeCounters());
    const before = this.json(event);
    if (before.length === 0) return 'no event';
    const hasDate = event.includes('date');
    this.draft.begin();
    const given = changes.map((change) => change(this.draft));
    this.draft.finish(hasDate);
    const after = { given, event: this.events(), dates: this.dates() };
    return JSON.stringify({ ...after, counters: this.decoder.counters });
  }
}

type Change = (draft: Draft) => unknown;

const part = fc.constantFrom(
  ...['a', 'b', 'c', 'o', 'http', 'date', 'timestamp', 'message', 'syslog', 'logmaticKey', '', 'é'],
);
const name = fc.oneof(
  part,
  fc.array(part, { minLength: 2, maxLength: 4 }).map((parts) => parts.join('.')),
  fc.constantFrom('n'.repeat(300), 'd.'.repeat(19).concat('d'), '_excess', '@timestamp'),
);
const text = fc.constantFrom(
  ...['t', 'é"\\q\n', '', KEY, `x ${KEY} y`, '2026-01-02T03:04:05Z', 'no date', '12', '1e3'],
);
const scalar: fc.Arbitrary<ExtractedValue> = fc.oneof(
  text,
  text,
  fc.constantFrom(1, -0.5, 1e21, Number.NaN, 1447669830000),
  fc.constantFrom(new NumberText('0.50'), new NumberText('-0')),
  fc.constantFrom(true, false, null),
  fc.constantFrom(19, 20, 21).map((levels) => nested(levels)),
);
/** Arrays in arrays. */
function nested(levels: number): ExtractedValue {
  return levels === 0 ? 'é' : [nested(levels - 1)];
}

const { value } = fc.letrec<{ value: ExtractedValue; attributes: Attributes }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    scalar,
    fc.array(tie('value'), { maxLength: 3 }),
    tie('attributes'),
  ),
  attributes: fc
    .array(fc.tuple(name, tie('value')), { maxLength: 4 })
    .map((members) => new Map(members)),
}));
const attributes = fc
  .array(fc.tuple(name, value), { maxLength: 5 })
  .map((members): Attributes => new Map(members));
const place = fc.oneof(
  name.map((of) => `custom.${of}`),
  name.map((of) => `syslog.${of}`),
  fc.constant('message'),
);
const sources = fc.constantFrom('custom.a', 'custom.b', 'custom.a.b', 'message', 'syslog.a');
const change: fc.Arbitrary<Change> = fc.oneof(
  fc.tuple(attributes, fc.option(place, { nil: undefined })).map(
    ([found, target]): Change =>
      (draft) =>
        draft.add(found, target),
  ),
  attributes.map(
    (found): Change =>
      (draft) =>
        draft.add(found, undefined),
  ),
  fc.tuple(place, value).map(
    ([path, found]): Change =>
      (draft) =>
        draft.set(path, path === 'message' ? String(found) : found),
  ),
  fc.tuple(fc.oneof(sources, place), place, fc.boolean()).map(
    ([from, to, keeps]): Change =>
      (draft) =>
        draft.copy(from, to, keeps),
  ),
  sources.map(
    (path): Change =>
      (draft) =>
        draft.remove(path),
  ),
  fc.constant<Change>((draft) => draft.setTime(1_000)),
);
const message = text.map(
  (of): Change =>
    (draft) =>
      draft.setMessage(of),
);
const read = fc.oneof(sources, place).map(
  (path): Change =>
    (draft) => [draft.text(path), draft.has(path)],
);
const write: Change = (draft) => draft.write();
const revert: Change = (draft) => draft.revert();
/** Changes as extensions make them: what was not written is not read. */
const step = fc.oneof(
  change.map((one): Change[] => [one, write]),
  message.map((one): Change[] => [one, write]),
  fc.tuple(change, message).map((both): Change[] => [...both, write]),
  fc.tuple(change, message).map((both): Change[] => [...both, revert]),
  read.map((one): Change[] => [one]),
);
const steps = fc.array(step, { maxLength: 8 }).map((all) => all.flat());

/** An event as it is sent: members may repeat and collide. */
const event = fc
  .array(fc.tuple(name, value), { maxLength: 6 })
  .map((members) => `{${members.map(([of, it]) => `${JSON.stringify(of)}:${json(it)}`)}}`);

function json(of: ExtractedValue): string {
  if (of instanceof NumberText) return of.text;
  if (of instanceof Map) {
    return `{${[...of].map(([key, inner]) => `${JSON.stringify(key)}:${json(inner)}`)}}`;
  }
  return Array.isArray(of) ? `[${of.map(json)}]` : JSON.stringify(of);
}

t.test('changes of a row give what changes of its tree give', async () => {
  let plain = new Form(true);
  let fast = new Form(false);
  let runs = 0;
  fc.assert(
    fc.property(event, steps, (sent, changes) => {
      // The path table is to have room.
      if (++runs % 500 === 0) {
        plain = new Form(true);
        fast = new Form(false);
      }
      const expected = plain.changed(sent, changes);
      const found = fast.changed(sent, changes);
      if (found !== expected) throw new Error(`of ${sent}\n${found}, not\n${expected}`);
    }),
    { numRuns: 10_000 },
  );
});
