import { useEffect, useMemo } from 'preact/hooks';
import { call, viewedKey } from '../../api/client.ts';
import type { ReadKey, WriteKey } from '../../api/contract.ts';
import { go } from '../../base/address.ts';
import { say } from '../../base/notice.ts';
import { Panel } from '../../base/panel.ts';
import { Button, FaultNote } from '../../parts/controls.tsx';
import { Icon } from '../../parts/icon.tsx';
import { visible } from '../../parts/log-text.tsx';
import { Menu } from '../../parts/menu.tsx';
import { type Asked, KeyDialogs, keyDialog } from './key-dialogs.tsx';
import { Usage } from './usage.tsx';

/** The keys of both kinds. */
interface AllKeys {
  readonly write: readonly WriteKey[];
  readonly read: readonly ReadKey[];
}

const REFRESH_MS = 5_000;

/** The keys: who may send, how much, and who may see what. */
export function Keys() {
  const panel = useMemo(() => new Panel<AllKeys>(), []);
  useEffect(() => {
    void panel.load(loadKeys);
    const timer = setInterval(() => !document.hidden && panel.reload(), REFRESH_MS);
    return () => {
      clearInterval(timer);
      panel.cancel();
    };
  }, []);
  const keys = panel.data.value;
  const ask = (asked: Asked) => () => {
    keyDialog.value = asked;
  };
  return (
    <div class="page">
      {panel.fault.value !== undefined && (
        <FaultNote fault={panel.fault.value} retry={() => panel.reload()} />
      )}
      <header class="page-head">
        <h1>Write keys</h1>
        <Button kind="main" icon="plus" onClick={ask({ type: 'make-write' })}>
          New write key
        </Button>
      </header>
      <p class="quiet-text">
        Senders put a write key before what they send. A daily quota ends at midnight UTC.
      </p>
      <ul class="box">
        {keys?.write.map((key) => (
          <WriteRow key={key.id} one={key} changed={() => panel.reload()} />
        ))}
        {keys?.write.length === 0 && <li>There is no write key: nothing can be sent.</li>}
      </ul>
      <header class="page-head">
        <h1>Read keys</h1>
        <Button kind="main" icon="plus" onClick={ask({ type: 'make-read' })}>
          New read key
        </Button>
      </header>
      <p class="quiet-text">
        A read key asks the API and logs in here without an account. What its security filter hides
        is, for it, not there.
      </p>
      <ul class="box">
        {keys?.read.map((key) => (
          <ReadRow key={key.id} one={key} />
        ))}
        {keys?.read.length === 0 && <li>There is no read key.</li>}
      </ul>
      <KeyDialogs changed={() => panel.reload()} />
    </div>
  );
}

async function loadKeys(signal: AbortSignal): Promise<AllKeys> {
  const [write, read] = await Promise.all([
    call<{ write_keys: WriteKey[] }>('GET', '/admin/api/write_keys', undefined, signal),
    call<{ read_keys: ReadKey[] }>('GET', '/admin/api/read_keys', undefined, signal),
  ]);
  return { write: write.write_keys, read: read.read_keys };
}

function WriteRow({ one, changed }: { one: WriteKey; changed: () => void }) {
  const isOff = !one.enabled && !one.quota_reached;
  const toggle = async (): Promise<void> => {
    await call('PATCH', `/admin/api/write_keys/${one.id}`, { enabled: isOff }).catch(
      (fault: Error) => say(fault.message),
    );
    changed();
  };
  return (
    <li class="key">
      <div>
        <div class="key-name">{visible(one.name)}</div>
        <State one={one} />
      </div>
      <Usage one={one} />
      <Button icon={isOff ? 'check' : 'close'} onClick={toggle}>
        {isOff ? 'Switch on' : 'Switch off'}
      </Button>
      <Menu
        label={`${one.name}: more`}
        choices={() => [
          {
            name: 'Name and quota',
            icon: 'edit',
            run: () => (keyDialog.value = { type: 'change-write', key: one }),
          },
          { name: 'How to send', icon: 'send', run: () => go('/send') },
          null,
          {
            name: 'Delete',
            icon: 'trash',
            run: () => (keyDialog.value = { type: 'delete', kind: 'write', key: one }),
          },
        ]}
      >
        <Icon name="more" />
      </Menu>
    </li>
  );
}

function State({ one }: { one: WriteKey }) {
  if (one.quota_reached) {
    return (
      <span class="state spent">
        <Icon name="warning" size={14} /> quota spent, until midnight UTC
      </span>
    );
  }
  return one.enabled ? (
    <span class="state on">
      <Icon name="check" size={14} /> takes events
    </span>
  ) : (
    <span class="state off">
      <Icon name="close" size={14} /> switched off
    </span>
  );
}

function ReadRow({ one }: { one: ReadKey }) {
  const view = (): void => {
    viewedKey.value = { id: one.id, name: one.name };
    go('/');
  };
  return (
    <li class="key">
      <div class="key-name">{visible(one.name)}</div>
      <span class="quiet-text">
        {one.security_filter === null ? (
          'sees all events'
        ) : (
          <code>{visible(one.security_filter)}</code>
        )}
      </span>
      <Button icon="eye" onClick={view}>
        View as it
      </Button>
      <Menu
        label={`${one.name}: more`}
        choices={() => [
          {
            name: 'Name and filter',
            icon: 'edit',
            run: () => (keyDialog.value = { type: 'change-read', key: one }),
          },
          null,
          {
            name: 'Delete',
            icon: 'trash',
            run: () => (keyDialog.value = { type: 'delete', kind: 'read', key: one }),
          },
        ]}
      >
        <Icon name="more" />
      </Menu>
    </li>
  );
}
