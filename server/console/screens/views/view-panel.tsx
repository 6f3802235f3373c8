import { useEffect, useRef, useState } from 'preact/hooks';
import { call, Fault } from '../../api/client.ts';
import type { View } from '../../api/contract.ts';
import { place } from '../../base/address.ts';
import { say } from '../../base/notice.ts';
import { session } from '../../base/session.ts';
import { FaultNote } from '../../parts/controls.tsx';
import { Icon, type IconName } from '../../parts/icon.tsx';
import { visible } from '../../parts/log-text.tsx';
import { placeBelow } from '../../parts/menu.tsx';
import { keptOf, showView, viewId } from '../explore/question.ts';
import { ViewDialogs } from './view-dialogs.tsx';
import {
  isChanged,
  isChoosing,
  loadViews,
  opened,
  VIEWS_PATH,
  viewDialog,
  views,
} from './views.ts';

interface ViewPartsProps {
  button: { readonly current: HTMLElement | null };
}

/** The choice of views, or the dialog about one, as far as they are open. */
export function ViewParts({ button }: ViewPartsProps) {
  return (
    <>
      {isChoosing.value && <ViewPanel button={button} />}
      {viewDialog.value !== undefined && <ViewDialogs />}
    </>
  );
}

/** The choice of views and what can be done with the one that is open, below `button`. */
function ViewPanel({ button }: ViewPartsProps) {
  const panel = useRef<HTMLDivElement>(null);
  const [sought, setSought] = useState('');
  useEffect(() => {
    void loadViews();
    panel.current?.showPopover();
    if (panel.current !== null) placeBelow(panel.current, button.current);
    panel.current?.querySelector('input')?.focus();
  }, []);
  const close = (): void => {
    isChoosing.value = false;
    button.current?.focus();
  };
  const fault = views.fault.value;
  const found = views.data.value?.filter(({ name }) =>
    name.toLowerCase().includes(sought.trim().toLowerCase()),
  );
  return (
    <div
      ref={panel}
      {...{ popover: 'auto', class: 'menu picker', role: 'dialog' }}
      aria-label="Views"
      onToggle={(event) => {
        if (event.newState === 'closed') isChoosing.value = false;
      }}
      onKeyDown={(event) => {
        event.stopPropagation();
        if (event.key === 'Escape') close();
        else move(event, panel.current);
      }}
    >
      <input
        class="input"
        type="search"
        aria-label="Find a view"
        placeholder="Find a view"
        value={sought}
        onInput={(event) => setSought(event.currentTarget.value)}
      />
      {fault !== undefined && <FaultNote fault={fault} retry={() => views.reload()} />}
      {found !== undefined && <ViewList found={found} close={close} />}
      <Actions close={close} />
    </div>
  );
}

/** Moves the focus to the choice above or below. */
function move(event: KeyboardEvent, panel: HTMLElement | null): void {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step === undefined || panel === null) return;
  event.preventDefault();
  const stops = [...panel.querySelectorAll<HTMLElement>('input, .menu-item')];
  const at = stops.indexOf(document.activeElement as HTMLElement);
  stops[(at + step + stops.length) % stops.length]?.focus();
}

function ViewList({ found, close }: { found: readonly View[]; close: () => void }) {
  if (views.data.value?.length === 0) {
    return (
      <p class="quiet-text">
        {isUser()
          ? 'There are no views yet. Save what is shown, to come back to it by its name.'
          : 'No views are shared yet.'}
      </p>
    );
  }
  if (found.length === 0) return <p class="quiet-text">No view has such a name.</p>;
  return (
    <ul class="view-list">
      {found.map((view) => (
        <li key={view.id}>
          <button
            type="button"
            class="menu-item"
            title={visible(view.name)}
            aria-pressed={view.id === viewId.value}
            onClick={() => {
              close();
              showView(view.id, view.address);
            }}
          >
            <Icon name={view.shared ? 'people' : 'view'} />
            <span>{visible(view.name)}</span>
            <small class="quiet-text">{sharing(view)}</small>
          </button>
        </li>
      ))}
    </ul>
  );
}

function sharing({ shared, owner }: View): string {
  if (owner === session.value?.name && isUser()) return shared ? 'shared' : '';
  return owner === null ? 'shared' : `by ${visible(owner)}`;
}

function isUser(): boolean {
  return session.value?.type === 'user';
}

/** Things to do with what is shown, and with the view that is open. */
function Actions({ close }: { close: () => void }) {
  const view = opened.value;
  const mayChange = view?.may_change === true;
  const act = (name: string, icon: IconName, run: () => void) => (
    <button
      type="button"
      class="menu-item"
      onClick={() => {
        close();
        run();
      }}
    >
      <Icon name={icon} />
      <span>{name}</span>
    </button>
  );
  return (
    <div>
      {view !== undefined && isChanged.value && (
        <>
          {mayChange && act('Save the changes', 'check', () => void save(view))}
          {act('Undo the changes', 'refresh', () => showView(view.id, view.address))}
        </>
      )}
      {isUser() &&
        act('Save as a new view', 'plus', () => {
          viewDialog.value = { type: 'make' };
        })}
      {view !== undefined && mayChange && (
        <>
          {act('Rename or share', 'edit', () => {
            viewDialog.value = { type: 'change', view };
          })}
          {act('Delete', 'trash', () => {
            viewDialog.value = { type: 'delete', view };
          })}
        </>
      )}
    </div>
  );
}

/** Keeps what is shown in place of what the view kept. */
async function save({ id, name }: View): Promise<void> {
  try {
    await call('PATCH', `${VIEWS_PATH}/${id}`, { address: keptOf(place.peek().params) });
    say(`The view ${visible(name)} is saved.`);
  } catch (error) {
    if (error instanceof Fault) say(error.message);
  }
  await loadViews();
}
