import { useEffect, useMemo, useState } from 'preact/hooks';
import { call, type Fault } from '../../api/client.ts';
import type { Retention as Kept, RetentionTest } from '../../api/contract.ts';
import { bytes, counted } from '../../base/format.ts';
import { say } from '../../base/notice.ts';
import { Panel } from '../../base/panel.ts';
import { Button, FaultNote } from '../../parts/controls.tsx';
import { Form, TextField } from '../../parts/form.tsx';
import { Icon } from '../../parts/icon.tsx';

const PATH = '/admin/api/retention';
const GIGABYTE = 1e9;

/** The limits of the form, their units, and what they are of. */
const LIMITS = {
  days: { label: 'Days', unit: 1, hint: 'Older events go, by their date' },
  bytes: { label: 'Gigabytes', unit: GIGABYTE, hint: 'Of files; beyond that the oldest events go' },
  free_bytes: {
    label: 'Free gigabytes',
    unit: GIGABYTE,
    hint: 'Below so much free disk the oldest events go',
  },
};
type Name = keyof typeof LIMITS;
const NAMES = Object.keys(LIMITS) as Name[];
type Draft = Readonly<Record<Name, string>>;

/** The retention of events, and the form that changes it. */
export function Retention() {
  const panel = useMemo(() => new Panel<Kept>(), []);
  const load = () => panel.load((signal) => call<Kept>('GET', PATH, undefined, signal));
  useEffect(() => {
    void load();
    return () => panel.cancel();
  }, []);
  const kept = panel.data.value;
  const fault = panel.fault.value;
  return (
    <>
      <h1>Retention</h1>
      <p class="quiet-text">
        Empty: no limit. What goes is gone for good, in whole files of a UTC day each.
      </p>
      {fault !== undefined && <FaultNote fault={fault} retry={load} />}
      {kept?.waiting !== undefined && (
        <p class="fault-note">
          <Icon name="warning" /> {counted(kept.waiting.events, 'event')} became too old at once and
          go in {Math.ceil(kept.waiting.seconds / 3_600)} h. Is the clock right?
        </p>
      )}
      {kept !== undefined && <RetentionForm key={JSON.stringify(kept)} {...{ kept, load }} />}
    </>
  );
}

interface RetentionFormProps {
  kept: Kept;
  load: () => Promise<void>;
}

/** The form of a retention, which tells what would go before that is saved. */
function RetentionForm({ kept, load }: RetentionFormProps) {
  const [draft, setDraft] = useState<Draft>(() => draftOf(kept));
  const [told, setTold] = useState<RetentionTest>();
  const [fault, setFault] = useState<Fault>();
  const save = async (method: string, text: string, body?: object): Promise<void> => {
    await call(method, PATH, body);
    setTold(undefined);
    say(text);
    await load();
  };
  // Only what was told is saved.
  const send = async (): Promise<void> => {
    const body = bodyOf(draft);
    if (told !== undefined) await save('PATCH', 'The retention is in force.', body);
    else setTold(await call<RetentionTest>('POST', `${PATH}/test`, body));
  };
  const reset = (): Promise<void> =>
    save('DELETE', 'The configuration is in force again.').catch(setFault);
  return (
    <Form
      send={send}
      actions={(isBusy) => (
        <>
          {told !== undefined && <Told {...told} />}
          {fault !== undefined && <FaultNote fault={fault} />}
          <div class="actions">
            {kept.set && <Button onClick={reset}>As configured</Button>}
            <Button kind={told === undefined ? 'main' : 'danger'} type="submit" disabled={isBusy}>
              {told === undefined ? 'What would go?' : 'Save'}
            </Button>
          </div>
        </>
      )}
    >
      <div class="form-row">
        {NAMES.map((name) => (
          <TextField
            key={name}
            {...{ label: LIMITS[name].label, name, value: draft[name] }}
            {...{ hint: LIMITS[name].hint, inputMode: 'decimal' }}
            set={(value) => {
              setDraft({ ...draft, [name]: value });
              setTold(undefined);
            }}
          />
        ))}
      </div>
    </Form>
  );
}

/** The events that a retention drops as soon as it is saved. */
function Told({ age, space, unsealed, waits }: RetentionTest) {
  return (
    <section class="preview" aria-label="What would go">
      <h2>What would go</h2>
      {[
        { sum: age, why: 'too old' },
        { sum: space, why: 'beyond the room' },
      ].map(
        ({ sum: { events, bytes: size, from, to }, why }) =>
          events > 0 && (
            <p>
              <b>{counted(events, 'event')}</b> in {bytes(size)} are {why}: of {day(from)} to{' '}
              {day(to)}.
            </p>
          ),
      )}
      {age.events + space.events === 0 && <p>Nothing now.</p>}
      {unsealed > 0 && (
        <p>Up to {counted(unsealed, 'event')} more go when their files are sealed.</p>
      )}
      {waits && <p>It waits for a day, in case the clock is wrong.</p>}
    </section>
  );
}

function day(date = ''): string {
  return date.slice(0, 10);
}

function draftOf(kept: Kept): Draft {
  const text = (name: Name): string => {
    const value = kept[name];
    return value === null ? '' : String(value / LIMITS[name].unit);
  };
  return { days: text('days'), bytes: text('bytes'), free_bytes: text('free_bytes') };
}

/** The body of a request: what is no number goes as it was typed, and the service says what is wrong with it. */
function bodyOf(draft: Draft): object {
  return Object.fromEntries(
    NAMES.map((name) => {
      const text = draft[name].trim();
      const { unit } = LIMITS[name];
      const value = unit === 1 ? Number(text) : Math.round(Number(text) * unit);
      return [name, text === '' ? null : Number.isNaN(value) ? text : value];
    }),
  );
}
