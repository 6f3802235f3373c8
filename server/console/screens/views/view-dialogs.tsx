import { useState } from 'preact/hooks';
import { call } from '../../api/client.ts';
import type { View } from '../../api/contract.ts';
import { place } from '../../base/address.ts';
import { say } from '../../base/notice.ts';
import { session } from '../../base/session.ts';
import { Button, Dialog } from '../../parts/controls.tsx';
import { Form, TextField } from '../../parts/form.tsx';
import { visible } from '../../parts/log-text.tsx';
import { keptOf, nameView } from '../explore/question.ts';
import { loadViews, VIEWS_PATH, viewDialog } from './views.ts';

/** The dialog about views that is open. */
export function ViewDialogs() {
  const asked = viewDialog.value;
  if (asked === undefined) return null;
  if (asked.type === 'delete') return <Delete view={asked.view} />;
  return <ViewForm view={asked.type === 'change' ? asked.view : undefined} />;
}

function close(): void {
  viewDialog.value = undefined;
}

/** The form that makes a view of what is shown, or changes the name and the sharing of one. */
function ViewForm({ view }: { view: View | undefined }) {
  const [name, setName] = useState(view?.name ?? '');
  const [isShared, setShared] = useState(view?.shared ?? false);
  const send = async (): Promise<void> => {
    const { id } = await keep(view, { name: name.trim(), shared: isShared });
    await loadViews();
    if (view === undefined) nameView(id);
    close();
  };
  return (
    <Dialog title={view === undefined ? 'New view' : visible(view.name)} close={close}>
      <Form send={send} actions={(isBusy) => <Actions isBusy={isBusy} name="Save" kind="main" />}>
        <TextField
          label="Name"
          name="name"
          hint="The view keeps search, range, columns, order and facets as they are shown."
          value={name}
          required
          autoComplete="off"
          set={setName}
        />
        <label class="check">
          <input
            type="checkbox"
            checked={isShared}
            onChange={(event) => setShared(event.currentTarget.checked)}
          />
          Shared with all who log in
        </label>
        <p class="field-hint">
          They see its name and its search. Events are shown to them as far as they may see them.
        </p>
      </Form>
    </Dialog>
  );
}

/** Makes a view of what is shown, or changes one. Rejects with Fault. */
function keep(view: View | undefined, body: { name: string; shared: boolean }): Promise<View> {
  if (view !== undefined) return call('PATCH', `${VIEWS_PATH}/${view.id}`, body);
  return call('POST', VIEWS_PATH, { ...body, address: keptOf(place.peek().params) });
}

/** Asks before a view goes. */
function Delete({ view: { id, name, shared, owner } }: { view: View }) {
  const send = async (): Promise<void> => {
    await call('DELETE', `${VIEWS_PATH}/${id}`);
    nameView(undefined);
    say(`The view ${visible(name)} is deleted.`);
    close();
  };
  return (
    <Dialog title={`Delete ${visible(name)}`} close={close}>
      <Form
        send={send}
        actions={(isBusy) => <Actions isBusy={isBusy} name="Delete" kind="danger" />}
      >
        <p>
          {owner !== null && owner !== session.value?.name && `The view is of ${visible(owner)}. `}
          {shared ? 'It goes for all who log in. ' : ''}No event goes with it.
        </p>
      </Form>
    </Dialog>
  );
}

interface ActionsProps {
  isBusy: boolean;
  name: string;
  kind: 'main' | 'danger';
}

function Actions({ isBusy, name, kind }: ActionsProps) {
  return (
    <div class="actions">
      <Button onClick={close}>Cancel</Button>
      <Button kind={kind} type="submit" disabled={isBusy}>
        {name}
      </Button>
    </div>
  );
}
