import { useRef } from 'preact/hooks';
import { pointTime } from '../base/format.ts';
import { isPicking, question, range } from '../base/question.ts';
import { PRESETS } from '../base/range.ts';
import { Icon } from './icon.tsx';
import { later } from './later.tsx';

const Picker = later(async () => (await import('./picker.tsx')).Picker);

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
