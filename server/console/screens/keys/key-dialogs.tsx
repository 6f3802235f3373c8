import { signal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { ask, call, Fault } from '../../api/client.ts';
import type { AggregateResult, ReadKey, WriteKey } from '../../api/contract.ts';
import { percent, whole } from '../../base/format.ts';
import { made } from '../../base/made-key.ts';
import { Button, CopyButton, Dialog } from '../../parts/controls.tsx';
import { Field, Form, TextField } from '../../parts/form.tsx';
import { visible } from '../../parts/log-text.tsx';

/** A dialog about keys that is open. */
export type Asked =
  | { type: 'make-write' }
  | { type: 'make-read' }
  | { type: 'change-write'; key: WriteKey }
  | { type: 'change-read'; key: ReadKey }
  | { type: 'delete'; kind: 'write' | 'read'; key: { id: string; name: string } };

/** The dialog that is open. */
export const keyDialog = signal<Asked | undefined>(undefined);

function close(): void {
  keyDialog.value = undefined;
}

/** The dialogs about keys; `changed` is called after each change. */
export function KeyDialogs({ changed }: { changed: () => void }) {
  const asked = keyDialog.value;
  if (asked === undefined) return null;
  if (asked.type === 'delete') return <Delete {...asked} changed={changed} />;
  const isWrite = asked.type.endsWith('write');
  const key = 'key' in asked ? asked.key : undefined;
  return isWrite ? (
    <WriteForm one={key as WriteKey | undefined} changed={changed} />
  ) : (
    <ReadForm one={key as ReadKey | undefined} changed={changed} />
  );
}

/** Sends what makes a key or changes it; the text of a key that was made. */
function useKey(path: string, id: string | undefined, changed: () => void) {
  const [text, setText] = useState<string>();
  const save = async (body: object): Promise<void> => {
    const [method, one] = id === undefined ? ['POST', ''] : ['PATCH', `/${id}`];
    const result = await call<{ key?: string; name: string }>(
      method,
      `/admin/api/${path}${one}`,
      body,
    );
    changed();
    if (result.key === undefined) return close();
    setText(result.key);
    if (path === 'write_keys') made.value = { name: result.name, key: result.key };
  };
  return { text, save };
}

function WriteForm({ one, changed }: { one: WriteKey | undefined; changed: () => void }) {
  const { text, save } = useKey('write_keys', one?.id, changed);
  const [name, setName] = useState(one?.name ?? '');
  const [type, setType] = useState<string>(one?.daily_quota?.type ?? 'none');
  const [value, setValue] = useState(String(one?.daily_quota?.value ?? ''));
  const send = (): Promise<void> => {
    const quota = type === 'none' ? null : { type, value: Number(value) };
    return save({ name, ...(one === undefined && quota === null ? {} : { daily_quota: quota }) });
  };
  if (text !== undefined) return <Shown text={text} />;
  return (
    <Dialog title={one === undefined ? 'New write key' : visible(one.name)} close={close}>
      <Form send={send} actions={actionsOf(one)}>
        <TextField label="Name" name="name" value={name} required set={setName} />
        <div class="form-row">
          <Field label="Daily quota" name="daily_quota">
            <select
              class="input"
              value={type}
              onChange={(event) => setType(event.currentTarget.value)}
            >
              <option value="none">None</option>
              <option value="megabytes">Volume in MB</option>
              <option value="percentage">Percentage of the plan</option>
            </select>
          </Field>
          {type !== 'none' && (
            <TextField
              label={type === 'megabytes' ? 'MB a day' : 'Percent'}
              name="daily_quota.value"
              inputMode="decimal"
              value={value}
              required
              set={setValue}
            />
          )}
        </div>
      </Form>
    </Dialog>
  );
}

function ReadForm({ one, changed }: { one: ReadKey | undefined; changed: () => void }) {
  const { text, save } = useKey('read_keys', one?.id, changed);
  const [name, setName] = useState(one?.name ?? '');
  const [filter, setFilter] = useState(one?.security_filter ?? '');
  const [preview, setPreview] = useState<string>();
  const send = (): Promise<void> => {
    const isLeftOut = one === undefined && filter.trim() === '';
    return save({
      name,
      ...(isLeftOut ? {} : { security_filter: filter.trim() === '' ? null : filter.trim() }),
    });
  };
  if (text !== undefined) return <Shown text={text} />;
  return (
    <Dialog title={one === undefined ? 'New read key' : visible(one.name)} close={close}>
      <Form
        send={send}
        actions={actionsOf(
          one,
          <Button icon="eye" onClick={async () => setPreview(await previewOf(filter.trim()))}>
            Try the filter
          </Button>,
        )}
      >
        <TextField label="Name" name="name" value={name} required set={setName} />
        <Field
          label="Security filter"
          name="security_filter"
          hint="A search: the key sees the events that it finds, and no others. Empty: all events."
        >
          <textarea
            class="input"
            value={filter}
            onInput={(event) => setFilter(event.currentTarget.value)}
          />
        </Field>
        <p class="quiet-text" role="status">
          {preview}
        </p>
      </Form>
    </Dialog>
  );
}

/** How much of the last day a filter lets through. */
async function previewOf(filter: string): Promise<string> {
  const count = async (filters: object[]): Promise<number> => {
    const body = {
      ...{ time: { from: 'now-24h', to: 'now' }, filters, hints: false },
      compute: [{ metric: { id: 'count', output: 'n' } }],
    };
    const { aggregates } = await ask<AggregateResult>('/beta/events/aggregate', body);
    return Number(aggregates[0]?.values['n'] ?? 0);
  };
  try {
    const [all, seen] = await Promise.all([
      count([]),
      count(filter === '' ? [] : [{ search: filter }]),
    ]);
    return `It would see ${whole(seen)} of the ${whole(all)} events of the last 24 hours (${percent(seen, all)}).`;
  } catch (error) {
    return error instanceof Fault ? error.message : String(error);
  }
}

/** The buttons of a form that makes a key, or changes one. */
function actionsOf(one: object | undefined, more?: ComponentChildren) {
  return (isBusy: boolean) => (
    <div class="actions">
      {more}
      <Button onClick={close}>Cancel</Button>
      <Button kind="main" type="submit" disabled={isBusy}>
        {one === undefined ? 'Make the key' : 'Save'}
      </Button>
    </div>
  );
}

function Shown({ text }: { text: string }) {
  return (
    <Dialog title="The key" close={close}>
      <p>It is shown this once: only its digest is kept.</p>
      <div class="secret">
        <code>{text}</code>
        <CopyButton text={text} label="Copy the key">
          Copy
        </CopyButton>
      </div>
      <div class="actions">
        <Button kind="main" onClick={close}>
          Done
        </Button>
      </div>
    </Dialog>
  );
}

interface DeleteProps {
  kind: 'write' | 'read';
  key?: unknown;
  changed: () => void;
}

/** Deleting a key for good, whose name is typed so that it is the one that was meant. */
function Delete({ kind, changed }: DeleteProps) {
  const asked = keyDialog.value;
  const [typed, setTyped] = useState('');
  if (asked?.type !== 'delete') return null;
  const { id, name } = asked.key;
  const send = async (): Promise<void> => {
    await call('DELETE', `/admin/api/${kind}_keys/${id}`);
    changed();
    close();
  };
  return (
    <Dialog title={`Delete ${visible(name)}`} close={close}>
      <Form
        send={send}
        actions={(isBusy) => (
          <div class="actions">
            <Button onClick={close}>Cancel</Button>
            <Button
              kind="danger"
              type="submit"
              disabled={isBusy || ![name, visible(name)].includes(typed)}
            >
              Delete
            </Button>
          </div>
        )}
      >
        <p>
          {kind === 'write'
            ? 'Whoever sends with this key is refused from now on. Events that are there stay.'
            : 'Whoever asks with this key is refused from now on, and its sessions end.'}
        </p>
        <TextField label={`Type ${visible(name)} to delete it`} value={typed} set={setTyped} />
      </Form>
    </Dialog>
  );
}
