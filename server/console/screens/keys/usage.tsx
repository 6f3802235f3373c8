import type { WriteKey } from '../../api/contract.ts';
import { ago, bytes, clock, isoDay, percent } from '../../base/format.ts';

const DAY_MS = 86_400_000;
const DAYS = 30;
const MEGABYTE = 1_000_000;
/** A forecast needs a part of the day to go by. */
const FORECAST_MIN_MS = 600_000;

/** Bytes that a key has sent today, against its quota, and on the days before. */
export function Usage({ one }: { one: WriteKey }) {
  const { daily_usage: used, daily_quota: quota } = one;
  const limit = quota?.type === 'megabytes' ? quota.value * MEGABYTE : undefined;
  return (
    <div>
      {limit !== undefined && (
        <div
          class={one.quota_reached ? 'meter is-full' : 'meter'}
          role="meter"
          aria-label="Used of the quota today"
          aria-valuenow={used}
          aria-valuemin={0}
          aria-valuemax={limit}
        >
          <span style={{ width: `${Math.min(100, (100 * used) / limit)}%` }} />
        </div>
      )}
      <span class="quiet-text">
        {bytes(used)} today{told(one, limit)}
      </span>
      <Spark one={one} />
    </div>
  );
}

function told(
  { daily_usage: used, daily_quota: quota, quota_reached }: WriteKey,
  limit: number | undefined,
): string {
  if (quota === null) return ', no quota';
  if (limit === undefined) return ` of ${quota.value} % of the plan`;
  const part = ` of ${bytes(limit)} (${percent(used, limit)})`;
  const forecast = quota_reached ? undefined : forecastMs(used, limit, Date.now());
  return forecast === undefined
    ? part
    : `${part}; at this rate reached at ${clock(forecast, 'UTC').slice(0, 5)} UTC`;
}

/** When the quota is reached at the rate of today; `undefined`: not today. */
export function forecastMs(used: number, limit: number, nowMs: number): number | undefined {
  const gone = nowMs % DAY_MS;
  if (used === 0 || gone < FORECAST_MIN_MS) return undefined;
  const reached = nowMs - gone + (limit / used) * gone;
  return reached < nowMs - gone + DAY_MS ? reached : undefined;
}

/** Bytes of the last 30 days, a bar each, and who sent last. */
function Spark({ one }: { one: WriteKey }) {
  const counts = new Map(one.days.map(({ day, bytes: count }) => [day, count]));
  const days = Array.from({ length: DAYS }, (_, at) =>
    isoDay(Date.now() - (DAYS - 1 - at) * DAY_MS, 'UTC'),
  );
  const largest = Math.max(1, ...counts.values());
  const text = one.days.map(({ day, bytes: count }) => `${day}: ${bytes(count)}`).join(', ');
  return (
    <>
      {counts.size > 0 && (
        <svg
          class="spark"
          viewBox={`0 0 ${DAYS * 6} 32`}
          preserveAspectRatio="none"
          role="img"
          aria-label={`Bytes a day: ${text}`}
        >
          {days.map((day, at) => {
            const count = counts.get(day) ?? 0;
            const height = Math.max(1, (30 * count) / largest);
            return (
              <rect
                key={day}
                class={count === 0 ? 'none' : ''}
                x={at * 6}
                y={32 - height}
                width={5}
                height={height}
              />
            );
          })}
        </svg>
      )}
      {one.last_seen !== null && (
        <span class="quiet-text">last event {lastSeen(one.last_seen)}</span>
      )}
      {one.senders.length > 0 && (
        <span class="quiet-text senders-told">
          from {one.senders.map(({ peer, channel }) => `${peer} (${channel})`).join(', ')}
        </span>
      )}
    </>
  );
}

/** When the last event came; of one from before the start of the service the day alone is known. */
function lastSeen(text: string): string {
  return /^\d{4}-\d\d-\d\d$/.test(text) ? text : ago(Date.parse(text));
}
