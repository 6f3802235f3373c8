import { useState } from 'preact/hooks';
import { call } from '../../api/client.ts';
import type { Extension } from '../../api/contract.ts';
import { say } from '../../base/notice.ts';
import { Button } from '../../parts/controls.tsx';
import { Field, Form, TextField } from '../../parts/form.tsx';
import { visible } from '../../parts/log-text.tsx';
import { bodyOf, type Draft, draftOf, KINDS, PATH } from './drafts.ts';
import { Rehearsal } from './rehearsal.tsx';

/** Fields of several lines, and what they are for. */
const AREAS = {
  sources: {
    label: 'Reads',
    hint: 'Attributes, one a line: the first that there is. Empty: as usual',
  },
  rules: {
    label: 'Rules',
    hint: 'One a line, such as: login user %{word:user} took %{number:ms}ms',
  },
  helperRules: { label: 'Helper rules', hint: 'One a line, which rules name as %{name}' },
  formats: { label: 'Formats', hint: 'One a line, such as dd/MMM/yyyy:HH:mm:ss Z' },
};

/** The answer of a change, besides the extension. */
interface Answer {
  warning?: { message: string };
}

interface ExtensionFormProps {
  one: Extension | undefined;
  close: () => void;
  changed: () => void;
}

/** The editor of an extension beside what it makes of the newest events, before it is saved. */
export function ExtensionForm({ one, close, changed }: ExtensionFormProps) {
  const [draft, setDraft] = useState<Draft>(() => draftOf(one));
  const [refused, setRefused] = useState<string>();
  const [makes, setMakes] = useState(false);
  const set = (changes: Partial<Draft>): void => setDraft((now) => ({ ...now, ...changes }));
  const body = bodyOf(draft);
  const send = async (): Promise<void> => {
    const { id, name, description, enabled, kind } = draft;
    const named = { name, description, enabled, definitions: makes };
    // What was emptied is as usual again.
    const emptied = { sources: null, ...(kind === 'date' ? {} : { target: null }) };
    const { warning } = await (one === undefined
      ? call<Answer>('POST', PATH, { ...body, ...named, ...(id === '' ? {} : { id }) })
      : call<Answer>('PATCH', `${PATH}/${one.id}`, { ...emptied, ...body, ...named }));
    const state = enabled ? 'is on: it reads what comes in from now on' : 'is saved, and off';
    say(warning?.message ?? `${visible(name)} ${state}.`);
    changed();
    close();
  };
  return (
    <>
      <h1>{one === undefined ? 'New extension' : visible(one.name)}</h1>
      <div class="split">
        <Form
          {...{ send, refused }}
          actions={(isBusy) => (
            <div class="actions">
              <Button onClick={close}>Cancel</Button>
              <Button kind="main" type="submit" disabled={isBusy}>
                Save
              </Button>
            </div>
          )}
        >
          <Parts {...{ draft, set, isNew: one === undefined }} />
          <Check label="On" checked={draft.enabled} set={(enabled) => set({ enabled })} />
          {draft.enabled && (
            <Check
              label="Make the fields and metrics that go with it"
              checked={makes}
              set={setMakes}
            />
          )}
        </Form>
        <Rehearsal extension={body} refuse={setRefused} />
      </div>
    </>
  );
}

interface PartsProps {
  draft: Draft;
  set: (changes: Partial<Draft>) => void;
  isNew: boolean;
}

/** The fields of an extension, those that its kind has. */
function Parts({ draft, set, isNew }: PartsProps) {
  const { kind } = draft;
  const text = (
    label: string,
    name: 'name' | 'id' | 'description' | 'filter' | 'timezone' | 'target',
    hint = '',
  ) => (
    <TextField
      {...{ label, name, value: draft[name], set: (value: string) => set({ [name]: value }) }}
      {...(hint === '' ? {} : { hint })}
    />
  );
  const area = (name: 'sources' | 'rules' | 'helperRules' | 'formats') => (
    <Field {...AREAS[name]} name={name}>
      <textarea
        class="input code"
        spellcheck={false}
        value={draft[name]}
        onInput={(event) => set({ [name]: event.currentTarget.value })}
      />
    </Field>
  );
  return (
    <>
      <div class="form-row">
        {text('Name', 'name')}
        {isNew && text('Id', 'id', 'Empty: made of the name')}
      </div>
      {text('Description', 'description')}
      <Field label="Kind" name="kind" hint={KINDS[kind] ?? ''}>
        <select
          class="input"
          value={kind}
          disabled={!isNew}
          onChange={(event) => set({ kind: event.currentTarget.value })}
        >
          {Object.keys(KINDS).map((each) => (
            <option value={each}>{each}</option>
          ))}
        </select>
      </Field>
      {kind === 'grok' && area('rules')}
      {text('Events', 'filter', 'A search. Empty: all')}
      {area('sources')}
      {kind !== 'date' && text('Writes below', 'target', 'Empty: as usual')}
      {kind === 'grok' && area('helperRules')}
      {kind === 'date' && area('formats')}
      {kind === 'date' && text('Time zone', 'timezone')}
      {kind === 'attribute' && (
        <Check
          label="The attribute that it reads stays"
          checked={draft.keeps}
          set={(keeps) => set({ keeps })}
        />
      )}
    </>
  );
}

interface CheckProps {
  label: string;
  checked: boolean;
  set: (checked: boolean) => void;
}

function Check({ label, checked, set }: CheckProps) {
  return (
    <label class="check">
      <input
        type="checkbox"
        checked={checked}
        onChange={(event) => set(event.currentTarget.checked)}
      />
      {label}
    </label>
  );
}
