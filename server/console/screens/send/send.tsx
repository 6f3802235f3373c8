import { useState } from 'preact/hooks';
import { call, Fault } from '../../api/client.ts';
import { made } from '../../base/made-key.ts';
import { say } from '../../base/notice.ts';
import { Button, CopyButton } from '../../parts/controls.tsx';
import { Doctor } from './doctor.tsx';
import { PLACEHOLDER, SENDERS } from './senders.ts';
import { Waiting } from './waiting.tsx';

/** From nothing to the first event: a key, a sender, and a look at what comes in. */
export function Send() {
  const [chosen, setChosen] = useState(SENDERS[0]?.id ?? '');
  const [hasEvents, setHasEvents] = useState(false);
  const sender = SENDERS.find(({ id }) => id === chosen);
  const key = made.value?.key ?? PLACEHOLDER;
  const to = { host: location.hostname, base: location.origin, key };
  return (
    <div class="page">
      <h1>Send logs</h1>
      <KeyBox />
      <div class="senders">
        <ul class="sender-list" aria-label="Senders">
          {SENDERS.map(({ id, name }) => (
            <li>
              <button
                type="button"
                class="menu-item"
                aria-pressed={id === chosen}
                onClick={() => setChosen(id)}
              >
                {name}
              </button>
            </li>
          ))}
        </ul>
        {sender !== undefined && (
          <section class="form" aria-label={sender.name}>
            <p class="quiet-text">{sender.where}</p>
            <div class="snippet">
              {/* Scrolls, so that it is reached by the keyboard. */}
              <pre tabIndex={0}>{sender.text(to)}</pre>
              <CopyButton text={sender.text(to)} label="Copy" />
            </div>
          </section>
        )}
      </div>
      <Waiting found={() => setHasEvents(true)} />
      {hasEvents && <Doctor />}
    </div>
  );
}

/** The key of the examples: it is made here, as the text of others is kept nowhere. */
function KeyBox() {
  const make = async (): Promise<void> => {
    for (let number = 1; number < 100; number++) {
      const name = number === 1 ? 'first' : `first-${number}`;
      try {
        const { key } = await call<{ key: string }>('POST', '/admin/api/write_keys', { name });
        made.value = { name, key };
        return;
      } catch (error) {
        if (!(error instanceof Fault)) throw error;
        if (!/exists|already|taken|there is/i.test(error.message)) return say(error.message);
      }
    }
  };
  if (made.value === undefined) {
    return (
      <div class="box">
        <p>
          The text of a write key is shown once, when it is made. Make one for what you are about to
          send, or put one that you have in the place of {PLACEHOLDER}.
        </p>
        <div>
          <Button kind="main" icon="key" onClick={make}>
            Make a write key
          </Button>
        </div>
      </div>
    );
  }
  return (
    <div class="secret">
      <span class="quiet-text">Write key {made.value.name}</span>
      <code>{made.value.key}</code>
      <CopyButton text={made.value.key} label="Copy the key">
        Copy
      </CopyButton>
    </div>
  );
}
