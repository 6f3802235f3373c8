import { useEffect, useMemo, useState } from 'preact/hooks';
import { ask, call, Fault } from '../../api/client.ts';
import type { ListResult } from '../../api/contract.ts';
import { type Json, printJson, textOf } from '../../api/exact.ts';
import { percent } from '../../base/format.ts';
import { say } from '../../base/notice.ts';
import { Panel } from '../../base/panel.ts';
import { Button, FaultNote } from '../../parts/controls.tsx';
import { Icon } from '../../parts/icon.tsx';
import { LogText, leavesOf, valueAt } from '../../parts/log-text.tsx';

/** A parsing extension that would read more out of what came in. */
interface Advice {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  /** Events of the sample that it reads. */
  readonly matched: number;
  readonly samples: number;
  /** The first of them as it is, and what it would have besides. */
  readonly before: Json;
  readonly gained: readonly { path: string; value: Json }[];
}

/** Findings of a look at the newest events. */
interface Findings {
  readonly advice: readonly Advice[];
  readonly withoutMessage: number;
  readonly samples: number;
}

interface Extension {
  id: string;
  name: string;
  description?: string;
  kind: string;
  enabled: boolean;
}

interface Tested {
  events: readonly { event: Json; matched: boolean }[];
}

const SAMPLES = 20;
const SHARE_MIN = 0.2;
const GAINED_SHOWN = 8;
/** Those that read what another one has found: of no use before that is on. */
const BEHIND_OTHERS = new Set(['url', 'user_agent', 'query_string']);

/** Looks at the newest events and offers what would make more of them; nothing is changed before it is clicked. */
export function Doctor() {
  const panel = useMemo(() => new Panel<Findings>(), []);
  useEffect(() => {
    void panel.load(findings);
    return () => panel.cancel();
  }, []);
  const found = panel.data.value;
  return (
    <section class="form" aria-label="Doctor">
      <h2>What could be read out of them</h2>
      {panel.fault.value !== undefined && (
        <FaultNote fault={panel.fault.value} retry={() => panel.reload()} />
      )}
      {found === undefined && panel.isLoading.value && <div class="loading" aria-busy="true" />}
      {found !== undefined && found.advice.length === 0 && (
        <p class="quiet-text">
          <Icon name="check" size={14} /> The newest {found.samples} events have dates, messages and
          attributes: there is nothing that a ready-made extension would add.
        </p>
      )}
      {found?.advice.map((advice) => (
        <AdviceBox key={advice.id} advice={advice} done={() => panel.reload()} />
      ))}
    </section>
  );
}

function AdviceBox({ advice, done }: { advice: Advice; done: () => void }) {
  const [fault, setFault] = useState<string>();
  const turnOn = async (): Promise<void> => {
    try {
      const { warning } = await call<{ warning?: { message: string } }>(
        'PATCH',
        `/admin/api/extensions/${advice.id}`,
        {
          enabled: true,
        },
      );
      say(warning?.message ?? `${advice.name} is on: it reads what comes in from now on.`);
      done();
    } catch (error) {
      setFault(error instanceof Fault ? error.message : String(error));
    }
  };
  const { matched, samples, gained } = advice;
  return (
    <div class="box">
      <div class="page-head">
        <b>{advice.name}</b>
        <span class="quiet-text">
          reads {percent(matched, samples)} of the newest {samples} events
        </span>
        <Button kind="main" icon="check" onClick={turnOn}>
          Turn it on
        </Button>
      </div>
      <p class="quiet-text">{advice.description}. For example:</p>
      <code>
        <LogText
          text={textOf(valueAt(advice.before, 'message')) || printJson(advice.before)}
          words={[]}
          max={400}
        />
      </code>
      <dl class="facts">
        {gained.slice(0, GAINED_SHOWN).map(({ path, value }) => (
          <div>
            <dt>{path.replace(/^custom\./, '')}</dt>
            <dd>{textOf(value).slice(0, 120)}</dd>
          </div>
        ))}
      </dl>
      {gained.length > GAINED_SHOWN && (
        <p class="quiet-text">and {gained.length - GAINED_SHOWN} more</p>
      )}
      {fault !== undefined && (
        <p class="field-fault" role="alert">
          {fault}
        </p>
      )}
    </div>
  );
}

async function findings(signal: AbortSignal): Promise<Findings> {
  const body = {
    time: { from: 'now-1d', to: 'now+1d' },
    event: true,
    limit: SAMPLES,
    hints: false,
  };
  const { events } = await ask<ListResult>('/beta/events/list', body, signal);
  const wholes = events.map(({ event }) => event as unknown as Json);
  const { extensions } = await call<{ extensions: Extension[] }>(
    'GET',
    '/admin/api/extensions',
    undefined,
    signal,
  );
  const samples = wholes.map((event) => sampleOf(event));
  const offered = extensions.filter(({ enabled, kind }) => !enabled && !BEHIND_OTHERS.has(kind));
  const tried =
    samples.length === 0
      ? []
      : await Promise.all(offered.map((each) => tryOut(each, wholes, samples, signal)));
  const advice = tried
    .filter(({ matched, gained }) => gained.length > 0 && matched >= SHARE_MIN * samples.length)
    .sort(
      (left, right) => right.matched - left.matched || right.gained.length - left.gained.length,
    );
  const withoutMessage = wholes.filter((event) => valueAt(event, 'message') === undefined).length;
  return { advice, withoutMessage, samples: samples.length };
}

/** The line as which an event would come in. */
function sampleOf(event: Json): string {
  const { custom, syslog, message } = event as {
    custom: { [name: string]: Json };
    syslog?: Json;
    message?: Json;
  };
  return printJson({
    ...custom,
    ...(syslog === undefined ? {} : { syslog }),
    ...(message === undefined ? {} : { message }),
  });
}

async function tryOut(
  { id, name, description = '' }: Extension,
  events: readonly Json[],
  samples: readonly string[],
  signal: AbortSignal,
): Promise<Advice> {
  const tested = await call<Tested>(
    'POST',
    '/admin/api/extensions/test',
    { extension: id, samples },
    signal,
  );
  const first = tested.events.findIndex(({ matched }) => matched);
  const before = events[first] ?? null;
  const had = new Map([...leavesOf(before)].map(({ path, value }) => [path, textOf(value)]));
  const gained = [...leavesOf(tested.events[first]?.event)].filter(
    ({ path, value }) => had.get(path) !== textOf(value),
  );
  const matched = tested.events.filter((each) => each.matched).length;
  return { id, name, description, matched, samples: samples.length, before, gained };
}
