import { Type } from 'typebox';
import { Compile } from 'typebox/compile';
import type { StoreMoment } from '../../../engine/backup/moment.ts';
import { shown } from '../../language/shown.ts';
import { parseJsonBody } from '../json.ts';
import { ApiError, resultReply } from '../reply.ts';
import { requireJsonType } from '../route.ts';
import type { AdminResource } from '../routes/route.ts';
import { object } from '../schema.ts';
import { refuse } from '../schema-fault.ts';

/** Snapshots at once. */
const SNAPSHOTS_MAX = 4;
/** Time in which a snapshot is asked for again, or ends. */
const LIFE_MS = 60_000;

/** Schema of the body by which a snapshot is made. */
export const SNAPSHOT_SCHEMA = object({
  id: Type.String({ pattern: '^[0-9a-z-]{1,64}$', description: '1 to 64 of a-z, 0-9 and -' }),
});
const validator = Compile(SNAPSHOT_SCHEMA);

/** A snapshot as the API shows it, by which `logseam backup` copies. */
export interface ShownSnapshot {
  id: string;
  records: number;
  open_segments: { segment: number; bytes: number; sequence: number }[];
}

/** The store as snapshots need it. */
export interface SnapshotSource {
  moment(): StoreMoment;
  /** Keeps the files of segments; what it returns ends that. */
  pin(): () => void;
}

interface Snapshot {
  shown: ShownSnapshot;
  unpin: () => void;
  end: NodeJS.Timeout;
}

/** The resource `snapshots`: moments of the store whose files stay until they are copied. Source: INTERFACE.md 13. */
export function snapshotResource({ moment, pin }: SnapshotSource): [string, AdminResource] {
  const snapshots = new Map<string, Snapshot>();
  const end = (id: string): boolean => {
    const snapshot = snapshots.get(id);
    if (snapshot === undefined) return false;
    clearTimeout(snapshot.end);
    snapshots.delete(id);
    snapshot.unpin();
    return true;
  };
  const endLater = (id: string): NodeJS.Timeout => setTimeout(() => end(id), LIFE_MS).unref();
  const make = (id: string): Snapshot => {
    if (snapshots.size === SNAPSHOTS_MAX) {
      throw new ApiError(429, `there are ${SNAPSHOTS_MAX} snapshots; allowed: ${SNAPSHOTS_MAX}`);
    }
    const unpin = pin();
    const { recordCount, open } = moment();
    const shown = { id, records: recordCount, open_segments: open };
    return { shown, unpin, end: endLater(id) };
  };
  const resource: AdminResource = {
    make: async ({ request }) => {
      requireJsonType(request);
      const body: unknown = parseJsonBody(request.body);
      if (!validator.Check(body)) refuse(validator, body);
      const { id } = body;
      const snapshot = snapshots.get(id) ?? make(id);
      snapshots.set(id, snapshot);
      clearTimeout(snapshot.end);
      snapshot.end = endLater(id);
      return resultReply(JSON.stringify(snapshot.shown));
    },
    delete: async ({ id }) => {
      if (!end(id)) throw new ApiError(404, `there is no snapshot with the id ${shown(id)}`);
      return resultReply(JSON.stringify({ id, deleted: true }));
    },
  };
  return ['snapshots', resource];
}
