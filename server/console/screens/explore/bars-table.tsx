import { pointTime, whole } from '../../base/format.ts';
import { question } from '../../base/question.ts';
import { stepMs } from '../../base/range.ts';
import { zoomTo } from '../../base/zoom.ts';
import { Dialog } from '../../parts/controls.tsx';
import type { Histogram } from './panels.ts';

/** The chart as a table, whose rows zoom as a drag does. */
export function BarsTable({ data, close }: { data: Histogram; close: () => void }) {
  const { zone } = question.value;
  const { tags } = data;
  const rows = data.times
    .map((time, at) => ({ time, at }))
    .filter(({ at }) => tags.some(({ counts }) => (counts[at] ?? 0) > 0));
  return (
    <Dialog title="Events over time" close={close} wide>
      <table class="table">
        <thead>
          <tr>
            <th scope="col">From</th>
            {tags.map(({ name }) => (
              <th scope="col" class="number">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ time, at }) => (
            <tr>
              <th scope="row">
                <button
                  type="button"
                  class="link"
                  onClick={() => {
                    close();
                    zoomTo(time, time + stepMs(data.step));
                  }}
                >
                  {pointTime(time, zone)}
                </button>
              </th>
              {tags.map(({ counts }) => (
                <td class="number">{whole(counts[at] ?? 0)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </Dialog>
  );
}
