import { signal } from '@preact/signals';
import { useState } from 'preact/hooks';
import { ask, call, Fault } from '../../api/client.ts';
import type { AggregateResult, ReadKey, WriteKey } from '../../api/contract.ts';
import { percent, whole } from '../../base/format.ts';
import { made } from '../../base/made-key.ts';
import { Button, CopyButton, Dialog, Field, TextField } from '../../parts/controls.tsx';

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

/** Sends a form; the fault of the last time, and the text of a key that was made. */
function useForm(path: string, id: string | undefined, changed: () => void) {
  const [fault, setFault] = useState<Fault>();
  const [text, setText] = useState<string>();
  const send = async (body: object): Promise<void> => {
    try {
      const method = id === undefined ? 'POST' : 'PATCH';
      const result = await call<{ key?: string; name: string }>(
        method,
        `/admin/api/${path}${id === undefined ? '' : `/${id}`}`,
        body,
      );
      changed();
      setFault(undefined);
      if (result.key === undefined) close();
      else {
        setText(result.key);
        if (path === 'write_keys') made.value = { name: result.name, key: result.key };
      }
    } catch (error) {
      if (error instanceof Fault) setFault(error);
    }
  };
  const about = (word: string): string | undefined =>
    fault?.message.startsWith(word) === true ? fault.message : undefined;
  return { fault, text, send, about };
}

function WriteForm({ one, changed }: { one: WriteKey | undefined; changed: () => void }) {
  const { fault, text, send, about } = useForm('write_keys', one?.id, changed);
  const [name, setName] = useState(one?.name ?? '');
  const [type, setType] = useState<string>(one?.daily_quota?.type ?? 'none');
  const [value, setValue] = useState(String(one?.daily_quota?.value ?? ''));
  const submit = (event: Event): void => {
    event.preventDefault();
    const quota = type === 'none' ? null : { type, value: Number(value) };
    void send({ name, ...(one === undefined && quota === null ? {} : { daily_quota: quota }) });
  };
  if (text !== undefined) return <Shown text={text} />;
  const other = fault !== undefined && about('name') === undefined ? fault.message : undefined;
  return (
    <Dialog title={one === undefined ? 'New write key' : one.name} close={close}>
      <form class="form" onSubmit={submit}>
        <TextField label="Name" fault={about('name')} value={name} required set={setName} />
        <div class="form-row">
          <Field label="Daily quota">
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
              inputMode="decimal"
              value={value}
              required
              set={setValue}
            />
          )}
        </div>
        {other !== undefined && (
          <p class="field-fault" role="alert">
            {other}
          </p>
        )}
        <Actions main={one === undefined ? 'Make the key' : 'Save'} />
      </form>
    </Dialog>
  );
}

function ReadForm({ one, changed }: { one: ReadKey | undefined; changed: () => void }) {
  const { fault, text, send, about } = useForm('read_keys', one?.id, changed);
  const [name, setName] = useState(one?.name ?? '');
  const [filter, setFilter] = useState(one?.security_filter ?? '');
  const [preview, setPreview] = useState<string>();
  const submit = (event: Event): void => {
    event.preventDefault();
    const isLeftOut = one === undefined && filter.trim() === '';
    void send({
      name,
      ...(isLeftOut ? {} : { security_filter: filter.trim() === '' ? null : filter.trim() }),
    });
  };
  if (text !== undefined) return <Shown text={text} />;
  return (
    <Dialog title={one === undefined ? 'New read key' : one.name} close={close}>
      <form class="form" onSubmit={submit}>
        <TextField label="Name" fault={about('name')} value={name} required set={setName} />
        <Field
          label="Security filter"
          hint="A search: the key sees the events that it finds, and no others. Empty: all events."
          fault={fault !== undefined && about('name') === undefined ? fault.message : undefined}
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
        <Actions
          main={one === undefined ? 'Make the key' : 'Save'}
          more={
            <Button icon="eye" onClick={async () => setPreview(await previewOf(filter.trim()))}>
              Try the filter
            </Button>
          }
        />
      </form>
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

function Actions({ main, more }: { main: string; more?: preact.ComponentChildren }) {
  return (
    <div class="actions">
      {more}
      <Button onClick={close}>Cancel</Button>
      <Button kind="main" type="submit">
        {main}
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
  const [fault, setFault] = useState<string>();
  if (asked?.type !== 'delete') return null;
  const { id, name } = asked.key;
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault();
    try {
      await call('DELETE', `/admin/api/${kind}_keys/${id}`);
      changed();
      close();
    } catch (error) {
      setFault(error instanceof Fault ? error.message : String(error));
    }
  };
  return (
    <Dialog title={`Delete ${name}`} close={close}>
      <form class="form" onSubmit={submit}>
        <p>
          {kind === 'write'
            ? 'Whoever sends with this key is refused from now on. Events that are there stay.'
            : 'Whoever asks with this key is refused from now on, and its sessions end.'}
        </p>
        <TextField label={`Type ${name} to delete it`} fault={fault} value={typed} set={setTyped} />
        <div class="actions">
          <Button onClick={close}>Cancel</Button>
          <Button kind="danger" type="submit" disabled={typed !== name}>
            Delete
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
