import { pointTime, whole } from '../../base/format.ts';
import { question } from '../../base/question.ts';
import { stepMs } from '../../base/range.ts';
import { STATUS_IDS, STATUS_NAMES } from '../../base/status.ts';
import { zoomTo } from '../../base/zoom.ts';
import { Dialog } from '../../parts/controls.tsx';
import { type Histogram, sumOf } from './panels.ts';

/** The chart as a table, whose rows zoom as a drag does. */
export function BarsTable({ data, close }: { data: Histogram; close: () => void }) {
  const { zone } = question.value;
  const ids = STATUS_IDS.filter((id) => sumOf(data, id) > 0);
  const rows = data.times
    .map((time, at) => ({ time, at }))
    .filter(({ at }) => ids.some((id) => (data.counts.get(id)?.[at] ?? 0) > 0));
  return (
    <Dialog title="Events over time" close={close} wide>
      <table class="table">
        <thead>
          <tr>
            <th scope="col">From</th>
            {ids.map((id) => (
              <th scope="col" class="number">
                {STATUS_NAMES[id]?.name}
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
              {ids.map((id) => (
                <td class="number">{whole(data.counts.get(id)?.[at] ?? 0)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </Dialog>
  );
}
