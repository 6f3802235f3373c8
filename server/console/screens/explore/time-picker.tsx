import { signal } from '@preact/signals';
import { useEffect, useRef, useState } from 'preact/hooks';
import { pointTime } from '../../base/format.ts';
import { PRESETS, pointsIn, rangeOf } from '../../base/range.ts';
import { browserZone, isZone, zoneNames } from '../../base/zone.ts';
import { Button, Field } from '../../parts/controls.tsx';
import { Icon } from '../../parts/icon.tsx';
import { placeBelow } from '../../parts/menu.tsx';
import { zoomTo } from './chart.tsx';
import { range } from './panels.ts';
import { askFor, question } from './question.ts';

/** The time picker is open. */
export const isPicking = signal(false);

/** The range of time: by name, by hand, and in which zone. */
export function TimePicker() {
  const button = useRef<HTMLButtonElement>(null);
  return (
    <div class="time">
      <button
        type="button"
        ref={button}
        class="button time-button"
        aria-haspopup="dialog"
        aria-expanded={isPicking.value}
        onClick={() => {
          isPicking.value = !isPicking.value;
        }}
      >
        <Icon name="clock" />
        <span>{nameOfRange()}</span>
        <Icon name="down" size={12} />
      </button>
      {isPicking.value && <Picker button={button} />}
    </div>
  );
}

function nameOfRange(): string {
  const { from, to, zone } = question.value;
  const preset = PRESETS.find((each) => each.from === from && each.to === to);
  if (preset !== undefined) return preset.name;
  const asking = range.value;
  if (asking === undefined) return `${from} to ${to}`;
  const last = /^now-(\d+\w)$/.exec(from);
  if (last !== null && to === 'now') return `Last ${last[1]}`;
  return `${pointTime(asking.fromMs, zone)} – ${to === 'now' ? 'now' : pointTime(asking.toMs, zone)}`;
}

function Picker({ button }: { button: { readonly current: HTMLElement | null } }) {
  const { from, to, zone } = question.value;
  const panel = useRef<HTMLDivElement>(null);
  const [text, setText] = useState(
    from.startsWith('now') && to === 'now' ? '' : `${from} to ${to}`,
  );
  const [fault, setFault] = useState<string>();
  useEffect(() => {
    panel.current?.showPopover();
    if (panel.current !== null) placeBelow(panel.current, button.current);
    panel.current?.querySelector('input')?.focus();
  }, []);
  const close = (): void => {
    isPicking.value = false;
    button.current?.focus();
  };
  const pick = (next: { from: string; to: string }): void => {
    close();
    askFor(next);
  };
  const take = (event: Event): void => {
    event.preventDefault();
    const points = pointsIn(text);
    const found = points && rangeOf(points.from, points.to, zone, Date.now());
    if (points === undefined || found === undefined) {
      setFault(
        'Allowed: 15m, last 2 days, yesterday, 2026-11-20, or two points such as 2026-11-20 08:00 to now-1h',
      );
    } else pick(points);
  };
  return (
    <div
      ref={panel}
      {...{ popover: 'auto', class: 'menu picker', role: 'dialog' }}
      aria-label="Range of time"
      onToggle={(event) => {
        if (event.newState === 'closed') isPicking.value = false;
      }}
      onKeyDown={(event) => {
        event.stopPropagation();
        if (event.key === 'Escape') close();
      }}
    >
      <form onSubmit={take}>
        <Field label="Range" fault={fault}>
          <input
            class="input"
            value={text}
            placeholder="15m, yesterday, 2026-11-20 08:00 to now"
            onInput={(event) => setText(event.currentTarget.value)}
          />
        </Field>
      </form>
      <div class="presets">
        {PRESETS.map((preset) => (
          <button
            type="button"
            class="menu-item"
            aria-pressed={preset.from === from && preset.to === to}
            onClick={() => pick(preset)}
          >
            {preset.name}
          </button>
        ))}
      </div>
      <ZoneChoice />
    </div>
  );
}

/** The zone whose clocks are shown, and in which dates without an offset are. */
function ZoneChoice() {
  const [text, setText] = useState(question.value.zone);
  const take = (name: string): void => {
    setText(name);
    if (isZone(name)) askFor({ zone: name });
  };
  return (
    <>
      <Field label="Zone" fault={isZone(text) ? undefined : 'There is no such zone'}>
        <input
          class="input"
          list="zones"
          value={text}
          onChange={(event) => take(event.currentTarget.value.trim())}
        />
      </Field>
      <datalist id="zones">
        {zoneNames().map((name) => (
          <option value={name} />
        ))}
      </datalist>
      <div class="zones">
        <Button kind="quiet" onClick={() => take(browserZone())}>
          This browser
        </Button>
        <Button kind="quiet" onClick={() => take('UTC')}>
          UTC
        </Button>
      </div>
    </>
  );
}

/** Moves the range by half of its length, to earlier with -1 and to later with 1. */
export function shiftRange(direction: -1 | 1): void {
  const asking = range.peek();
  if (asking === undefined) return;
  const byMs = ((asking.toMs - asking.fromMs) / 2) * direction;
  zoomTo(asking.fromMs + byMs, asking.toMs + byMs);
}

/** Makes the range longer around its middle. */
export function zoomOut(): void {
  const asking = range.peek();
  if (asking === undefined) return;
  const byMs = (asking.toMs - asking.fromMs) / 2;
  zoomTo(asking.fromMs - byMs, Math.min(asking.toMs + byMs, Math.max(Date.now(), asking.toMs)));
}
