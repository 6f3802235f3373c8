import type { Json } from '../../api/exact.ts';
import { HELP, type Shortcut } from '../../base/keyboard.ts';
import { say } from '../../base/notice.ts';
import { askFor, isPicking, question } from '../../base/question.ts';
import { opposite, termOf, withTerm } from '../../base/terms.ts';
import { shiftRange } from '../../base/zoom.ts';
import { copyText } from '../../parts/controls.tsx';
import { valueAt } from '../../parts/log-text.tsx';
import { focusSearch } from '../../parts/search-bar.tsx';
import { isChoosing } from '../views/views.ts';
import { addressOfEvent, follow, isLive, open, openId } from './question.ts';
import { areFacetsOpen, contextOf, current, openEvent, shownRows } from './reading.ts';

/** The keys of exploring. */
export function exploreKeys(): Shortcut[] {
  return [
    { keys: '/', name: 'Search', run: focusSearch },
    { keys: 'j ArrowDown', name: 'Next event', run: () => move(1) },
    { keys: 'k ArrowUp', name: 'Previous event', run: () => move(-1) },
    { keys: 'Enter', name: 'Open the event, or close it', run: toggleOpen },
    { keys: 'Escape', name: 'Close the event, and leave the list', run: leave },
    { keys: 'o', name: 'Events around it', run: showContext },
    {
      keys: 'f',
      name: 'Filter for the value at the pointer or the focus',
      run: () => filter(false),
    },
    { keys: 'x', name: 'Filter it out', run: () => filter(true) },
    {
      keys: 't',
      name: 'Range of time',
      run: () => {
        isPicking.value = true;
      },
    },
    {
      keys: 'v',
      name: 'Views',
      run: () => {
        isChoosing.value = true;
      },
    },
    { keys: 'l', name: 'Live tail', run: () => follow(!isLive.peek()) },
    {
      keys: 'c',
      name: 'Facets and columns',
      run: () => {
        areFacetsOpen.value = !areFacetsOpen.peek();
      },
    },
    { keys: '[', name: 'Earlier', run: () => shiftRange(-1) },
    { keys: ']', name: 'Later', run: () => shiftRange(1) },
    { keys: 'y', name: 'Copy a link to what one sees', run: copyLink },
    HELP,
  ];
}

function move(by: 1 | -1): void {
  const count = shownRows.peek()?.count ?? 0;
  if (count === 0) return;
  current.value = { row: Math.max(0, Math.min(count - 1, current.peek().row + by)) };
}

function currentEvent() {
  return shownRows.peek()?.at(current.peek().row);
}

function toggleOpen(): void {
  const event = currentEvent();
  if (event !== undefined) open(openId.peek() === event.id ? undefined : event.id);
}

function leave(): void {
  if (openId.peek() === undefined) current.value = { row: -1 };
  else open(undefined);
}

function showContext(): void {
  const event = currentEvent();
  if (event !== undefined) contextOf.value = event;
}

/** Filters for the attribute over which the pointer is, or in which the focus is. */
function filter(isOut: boolean): void {
  const row =
    document.querySelector<HTMLElement>('.attribute:hover') ??
    document.activeElement?.closest<HTMLElement>('.attribute');
  const path = row?.dataset['path'];
  const event = openEvent.peek();
  if (path === undefined || event === undefined) return;
  const term = termOf(path, valueAt(event.event as Json | undefined, path) ?? null);
  askFor({ query: withTerm(question.peek().query, isOut ? opposite(term) : term) });
}

async function copyLink(): Promise<void> {
  const id = openId.peek();
  const address = id === undefined ? location.href : location.origin + addressOfEvent(id);
  say((await copyText(address)) ? 'The link is copied.' : 'The browser refused to copy.');
}
