import { useEffect, useState } from 'preact/hooks';
import type { ListedEvent } from '../../api/contract.ts';
import { type Json, printJson, textOf } from '../../api/exact.ts';
import { fullTime } from '../../base/format.ts';
import { askFor, question } from '../../base/question.ts';
import { termOf } from '../../base/terms.ts';
import { Button, CopyButton } from '../../parts/controls.tsx';
import { LogText, leavesOf, shownName, valueAt } from '../../parts/log-text.tsx';
import { addressOfEvent } from './question.ts';
import { contextOf, openEvent } from './reading.ts';
import { ValueMenu } from './value-menu.tsx';

/** Characters and attributes that are shown at first. */
const SHOWN_CHARACTERS = 20_000;
const SHOWN_ATTRIBUTES = 250;
/** Attributes that lead through the events of one visitor or one request, the narrowest first. */
const TRAILS = [
  ...[
    'trace_id',
    'traceId',
    'trace.id',
    'request_id',
    'requestId',
    'req.id',
    'session_id',
    'session.id',
  ],
  ...['user.id', 'user_id', 'userId', 'usr.id', 'network.client.ip'],
].map((name) => `custom.${name}`);

/** An event that is open: its text, its attributes, and the ways from it. */
export function EventView({ shown, words }: { shown: ListedEvent; words: readonly string[] }) {
  const [isRaw, setRaw] = useState(false);
  useEffect(() => {
    openEvent.value = shown;
    return () => {
      openEvent.value = undefined;
    };
  }, [shown]);
  const { zone } = question.value;
  const event = shown.event as Json | undefined;
  const message = valueAt(event, 'message');
  const trail = TRAILS.map((path) => ({ path, value: valueAt(event, path) })).find(
    ({ value }) => value !== undefined && value !== null,
  );
  return (
    <section class="event" aria-label="The event">
      <div class="event-bar">
        <time dateTime={shown.date}>{fullTime(Date.parse(shown.date), zone)}</time>
        <span class="space" />
        <Button
          icon="context"
          kind="quiet"
          onClick={() => {
            contextOf.value = shown;
          }}
        >
          Context
        </Button>
        {trail?.value !== undefined && (
          <Button
            icon="people"
            kind="quiet"
            onClick={() => askFor({ query: termOf(trail.path, trail.value ?? null) })}
          >
            Same {trail.path.replace('custom.', '')}
          </Button>
        )}
        <Button icon="list" kind="quiet" isOn={isRaw} onClick={() => setRaw(!isRaw)}>
          JSON
        </Button>
        <CopyButton text={() => printJson(event ?? null, 2)} label="Copy the event as JSON">
          Copy
        </CopyButton>
        <CopyButton
          text={() => location.origin + addressOfEvent(shown.id)}
          label="Copy a link to the event"
        >
          Link
        </CopyButton>
      </div>
      {isRaw ? (
        <Long class="raw" text={printJson(event ?? null, 2)} words={[]} />
      ) : (
        <>
          {typeof message === 'string' && <Long class="message" text={message} words={words} />}
          <Attributes event={event} words={words} />
        </>
      )}
    </section>
  );
}

/** A text of any length: its beginning, and the rest when it is asked for. */
function Long({
  text,
  words,
  class: kind,
}: {
  text: string;
  words: readonly string[];
  class: string;
}) {
  const [isWhole, setWhole] = useState(false);
  const isCut = text.length > SHOWN_CHARACTERS && !isWhole;
  return (
    <div class={`long ${kind}`}>
      <pre tabIndex={0}>
        <LogText
          text={text}
          words={words}
          max={isCut ? SHOWN_CHARACTERS : Number.POSITIVE_INFINITY}
        />
      </pre>
      {isCut && (
        <Button onClick={() => setWhole(true)}>
          Show all {text.length.toLocaleString('en-US')} characters
        </Button>
      )}
    </div>
  );
}

function Attributes({ event, words }: { event: Json | undefined; words: readonly string[] }) {
  const [isWhole, setWhole] = useState(false);
  const leaves = [...leavesOf(event)].filter(({ path }) => path !== 'message');
  const shown = isWhole ? leaves : leaves.slice(0, SHOWN_ATTRIBUTES);
  return (
    <div class="attributes">
      {shown.map(({ path, value }) => (
        <div class="attribute" data-path={path}>
          <span class="attribute-name" title={path}>
            {shownName(path)}
          </span>
          <span class={`attribute-value ${kindOf(value)}`}>
            <LogText text={textOf(value)} words={words} />
          </span>
          <ValueMenu path={path} value={value} />
        </div>
      ))}
      {shown.length < leaves.length && (
        <Button onClick={() => setWhole(true)}>Show all {leaves.length} attributes</Button>
      )}
    </div>
  );
}

function kindOf(value: Json): string {
  if (value === null) return 'null';
  return typeof value === 'object' ? (Array.isArray(value) ? 'array' : 'number') : typeof value;
}
