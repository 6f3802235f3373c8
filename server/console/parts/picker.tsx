import { useEffect, useRef, useState } from 'preact/hooks';
import { askFor, isPicking, question } from '../base/question.ts';
import { PRESETS, pointsIn, rangeOf } from '../base/range.ts';
import { browserZone, isZone, zoneNames } from '../base/zone.ts';
import { Button } from './controls.tsx';
import { Field } from './form.tsx';
import { placeBelow } from './menu.tsx';

/** The choices of a range and of a zone, below `button`. */
export function Picker({ button }: { button: { readonly current: HTMLElement | null } }) {
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
