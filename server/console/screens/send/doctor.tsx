import { useEffect, useMemo, useState } from 'preact/hooks';
import { call, Fault } from '../../api/client.ts';
import { printJson, textOf } from '../../api/exact.ts';
import { fullTime, percent } from '../../base/format.ts';
import { say } from '../../base/notice.ts';
import { Panel } from '../../base/panel.ts';
import { browserZone } from '../../base/zone.ts';
import { Button, FaultNote } from '../../parts/controls.tsx';
import { Icon } from '../../parts/icon.tsx';
import { LogText, valueAt, visible } from '../../parts/log-text.tsx';
import type { Lack } from './candidates.ts';
import { type Advice, type Effect, type Findings, findings } from './findings.ts';

const GAINED_SHOWN = 8;
const LINE_CHARACTERS = 400;
const VALUE_CHARACTERS = 120;

/** Texts about events that lack something. */
const LACKING: Readonly<Record<Lack, string>> = {
  date: 'no date of their own: they have the time at which they came in.',
  message: 'no message: lists show their attributes instead.',
  severity: 'no severity.',
};
/** Advice when nothing can be turned on for what they lack. */
const TO_SEND: Readonly<Record<Lack, string>> = {
  date: 'Send one as timestamp, in ISO 8601.',
  message: 'Send one as message.',
  severity: 'Send one as level.',
};

/** Looks at the newest events and offers what would make more of them; nothing is changed before it is clicked. */
export function Doctor() {
  const panel = useMemo(() => new Panel<Findings>(), []);
  useEffect(() => {
    void panel.load(findings);
    return () => panel.cancel();
  }, []);
  const found = panel.data.value;
  const fault = panel.fault.value;
  return (
    <section class="form" aria-label="Doctor">
      <h2>What could be read out of them</h2>
      {fault !== undefined && <FaultNote fault={fault} retry={() => panel.reload()} />}
      {found === undefined && fault === undefined && <div class="loading" aria-busy="true" />}
      {found?.advice.length === 0 && found.unsolved.length === 0 && (
        <p class="quiet-text">
          <Icon name="check" size={14} /> The newest {found.samples} events have dates, messages and
          attributes: there is nothing that a ready-made extension would add.
        </p>
      )}
      {found?.advice.map((advice) => (
        <AdviceBox
          key={advice.name}
          advice={advice}
          samples={found.samples}
          done={() => panel.reload()}
        />
      ))}
      {found?.unsolved.map(({ lack, events }) => (
        <p class="quiet-text">
          <Icon name="warning" size={14} /> {events} of the newest {found.samples} events have{' '}
          {LACKING[lack]} {TO_SEND[lack]}
        </p>
      ))}
    </section>
  );
}

interface AdviceBoxProps {
  advice: Advice;
  samples: number;
  done: () => void;
}

function AdviceBox({ advice, samples, done }: AdviceBoxProps) {
  const [fault, setFault] = useState<string>();
  const take = async (): Promise<void> => {
    try {
      const { warning } = await turnOn(advice);
      say(warning?.message ?? `${visible(advice.name)} is on: it reads what comes in from now on.`);
      done();
    } catch (error) {
      setFault(error instanceof Fault ? error.message : String(error));
    }
  };
  const { name, description, lacks, matched, effects } = advice;
  return (
    <div class="box">
      <div class="page-head">
        <b>{visible(name)}</b>
        <span class="quiet-text">
          reads {percent(matched, samples)} of the newest {samples} events
        </span>
        <Button kind="main" icon="check" onClick={take}>
          Turn it on
        </Button>
      </div>
      <p class="quiet-text">
        {lacks.map((lack) => `Events have ${LACKING[lack]} `)}
        {description}
      </p>
      {effects.map((effect) => (
        <EffectOf effect={effect} />
      ))}
      {fault !== undefined && (
        <p class="field-fault" role="alert">
          {fault}
        </p>
      )}
    </div>
  );
}

/** Turns an extension on, or makes the one that is not there. Rejects with Fault. */
function turnOn({ extension }: Advice): Promise<{ warning?: { message: string } }> {
  if (typeof extension !== 'string') {
    return call('POST', '/admin/api/extensions', { ...extension, enabled: true });
  }
  return call('PATCH', `/admin/api/extensions/${extension}`, { enabled: true });
}

/** An event as it came in, and what it would have besides. */
function EffectOf({ effect: { before, date, gained } }: { effect: Effect }) {
  return (
    <>
      <code>
        <LogText
          text={textOf(valueAt(before, 'message')) || printJson(before)}
          words={[]}
          max={LINE_CHARACTERS}
        />
      </code>
      <dl class={gained.length > 2 ? 'facts' : 'facts few'}>
        {gained.slice(0, GAINED_SHOWN).map(({ path, value }) => (
          <div>
            <dt>{visible(path.replace(/^custom\./, ''))}</dt>
            <dd>
              {visible(
                path === 'date'
                  ? dateText(textOf(value), date)
                  : textOf(value).slice(0, VALUE_CHARACTERS),
              )}
            </dd>
          </div>
        ))}
      </dl>
      {gained.length > GAINED_SHOWN && (
        <p class="quiet-text">and {gained.length - GAINED_SHOWN} more</p>
      )}
    </>
  );
}

/** A date, and the one that an event has without it. */
function dateText(...dates: (string | undefined)[]): string {
  return dates
    .map((date) => fullTime(Date.parse(date ?? ''), browserZone()))
    .join(', in place of ');
}
