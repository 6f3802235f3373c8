import type { Intake } from '../../ingest/intake.ts';
import type { RefusalReason } from '../../ingest/refusal.ts';
import {
  BODY_MALFORMED,
  BODY_TOO_LARGE,
  DECODE_TROUBLES,
  LINE_DROPPED,
  TROUBLE_KINDS,
} from '../../ingest/trouble.ts';
import { type Reply, resultReply } from '../reply.ts';
import type { AdminResource } from '../routes/route.ts';

/** Sources of trouble counts. */
export type TroubleSource = Pick<Intake, 'stats' | 'counts' | 'troubles'>;

/** The name of the write key with an id; `undefined` when it does not exist any more. */
type KeyName = (id: string) => string | undefined;

/** A kind of trouble as the API shows it. */
interface ShownTrouble {
  kind: string;
  /** Count since the process began. */
  count: number;
  /** ISO 8601. */
  last?: string;
  line?: string;
  reason?: string | undefined;
  /** Name of the write key; its id when it is gone. */
  key?: string;
  channel?: string;
  /** Of a body that was refused. */
  peer?: string;
}

const REFUSED: ReadonlyMap<string, RefusalReason> = new Map([
  [BODY_MALFORMED, 'malformed'],
  [BODY_TOO_LARGE, 'too_large'],
]);

/**
 * The resource `troubles`: the kinds of faulty input, each with its count and its last line. GET only. Write keys in
 * lines are masked. A line may come a second after its count.
 */
export function troubleResource(source: TroubleSource, keyName: KeyName): [string, AdminResource] {
  const list = async (): Promise<Reply> =>
    resultReply(JSON.stringify({ troubles: shownTroubles(source, keyName) }));
  return ['troubles', { list }];
}

function shownTroubles(source: TroubleSource, keyName: KeyName): ShownTrouble[] {
  const counts = countsOf(source);
  return TROUBLE_KINDS.map((kind) => {
    const last = source.troubles.last(kind);
    const count = counts.get(kind) ?? 0;
    if (last === undefined) return { kind, count };
    const { line, reason, key, channel, peer } = last;
    return {
      ...{ kind, count, last: new Date(last.atMs).toISOString(), line },
      ...(reason === undefined ? {} : { reason }),
      ...(key === undefined ? {} : { key: keyName(key) ?? key }),
      ...(channel === undefined ? {} : { channel }),
      ...(peer === undefined ? {} : { peer }),
    };
  });
}

function countsOf(source: TroubleSource): Map<string, number> {
  const found = new Map<string, number>();
  const { counts } = source;
  const { decode } = source.stats();
  for (const [name, kind] of Object.entries(DECODE_TROUBLES)) {
    found.set(kind, decode[name as keyof typeof DECODE_TROUBLES]);
  }
  for (const [kind, wanted] of REFUSED) {
    const of = counts.refused().filter(({ reason }) => reason === wanted);
    found.set(
      kind,
      of.reduce((sum, { count }) => sum + count, 0),
    );
  }
  const dropped = counts.dropped().reduce((sum, [, count]) => sum + count, 0);
  found.set(LINE_DROPPED, dropped);
  return found;
}
