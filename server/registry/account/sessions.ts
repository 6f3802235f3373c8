import { EngineError } from '../../../engine/base/errors.ts';
import type { Disk } from '../../../engine/base/file.ts';
import { digestNameOf, makeToken } from '../digest.ts';
import { type Asker, AUDIT_PATH, type AuditLine, type Journal, openJournal } from '../journal.ts';

/** Path of the record file. */
export const SESSIONS_PATH = 'sessions';

/** How long a session lasts, and how long it may rest. Source: OWASP ASVS 5.0, V7.3. */
export const SESSION_MS = 7 * 24 * 3_600_000;
export const IDLE_MS = 24 * 3_600_000;

/** Sessions at once; of one who logs in again and again the oldest end. */
const SESSIONS_MAX = 4_096;
const PER_SUBJECT_MAX = 64;

/** The owner of a session: a user who gave a password, or the holder of a read key. */
export type Subject =
  | { readonly type: 'user'; readonly id: string; readonly passwordNumber: number }
  | { readonly type: 'key'; readonly id: string };

/** A session in memory and in the file. Its token is nowhere, only the SHA-256 digest of it. */
export interface Session {
  /** Hexadecimal. */
  readonly digest: string;
  readonly subject: Subject;
  readonly startedMs: number;
}

/** A record of the file `sessions`: one that began, or the digests of those that ended. */
type SessionEntry = { type: 'begun'; session: Session } | { type: 'ended'; digests: string[] };

/** The surroundings of the sessions. */
export interface SessionsOptions {
  disk: Disk;
  nowMs: () => number;
}

/**
 * Sessions, in memory and in the file `sessions`, so that they outlast a restart. Owned by the front thread. Methods
 * reject with IO when a change cannot be written; then it is not in force.
 */
export class Sessions {
  readonly #nowMs: () => number;
  readonly #journal: Journal;
  /** By digest, the oldest first. */
  readonly #byDigest = new Map<string, Session>();
  readonly #seenMs = new Map<string, number>();

  constructor({ nowMs }: SessionsOptions, journal: Journal, sessions: Iterable<Session>) {
    this.#nowMs = nowMs;
    this.#journal = journal;
    for (const session of sessions) this.#add(session);
  }

  /** Begins a session; its token, 43 characters, is given this once. `asker` goes to the audit log. */
  begin(subject: Subject, asker: Asker): Promise<string> {
    return this.#journal.inTurn(async () => {
      await this.#write({ type: 'ended', digests: this.#surplus(subject) }, []);
      const token = makeToken();
      const session = { digest: digestNameOf(token), subject, startedMs: this.#nowMs() };
      await this.#write({ type: 'begun', session }, [this.#line(session, asker, 'login')]);
      return token;
    });
  }

  /** The session of a token, unless it is over. Its rest begins anew. */
  of(token: string): Session | undefined {
    const session = this.#byDigest.get(digestNameOf(token));
    if (session === undefined || this.#isOver(session)) return undefined;
    this.#seenMs.set(session.digest, this.#nowMs());
    return session;
  }

  /** Ends a session. */
  end(session: Session, asker: Asker): Promise<void> {
    return this.#journal.inTurn(async () => {
      if (!this.#byDigest.has(session.digest)) return;
      const line = this.#line(session, asker, 'logout');
      await this.#write({ type: 'ended', digests: [session.digest] }, [line]);
    });
  }

  /** Waits for changes that run; later ones reject with CLOSED. */
  close(): Promise<void> {
    return this.#journal.close();
  }

  #isOver({ digest, startedMs }: Session): boolean {
    const nowMs = this.#nowMs();
    return (
      nowMs - startedMs >= SESSION_MS || nowMs - (this.#seenMs.get(digest) ?? nowMs) >= IDLE_MS
    );
  }

  /** The digests of the sessions that are over, and of those that make room for one more of a subject. */
  #surplus({ type, id }: Subject): string[] {
    const sessions = [...this.#byDigest.values()];
    const over = sessions.filter((session) => this.#isOver(session));
    const live = sessions.filter((session) => !over.includes(session));
    const own = live.filter(({ subject }) => subject.type === type && subject.id === id);
    const surplus = [
      ...over,
      ...own.slice(0, Math.max(0, own.length - PER_SUBJECT_MAX + 1)),
      ...live.slice(0, Math.max(0, live.length - SESSIONS_MAX + 1)),
    ];
    return [...new Set(surplus.map(({ digest }) => digest))];
  }

  #line({ subject: { type, id } }: Session, asker: Asker, what: string): AuditLine {
    const at = new Date(this.#nowMs()).toISOString();
    return { at, ...asker, what, resource: 'session', [type]: id };
  }

  async #write(entry: SessionEntry, lines: readonly AuditLine[]): Promise<void> {
    if (entry.type === 'ended' && entry.digests.length === 0) return;
    await this.#journal.write(entry, lines);
    if (entry.type === 'begun') {
      this.#add(entry.session);
      return;
    }
    for (const digest of entry.digests) {
      this.#byDigest.delete(digest);
      this.#seenMs.delete(digest);
    }
  }

  #add(session: Session): void {
    this.#byDigest.set(session.digest, session);
    this.#seenMs.set(session.digest, this.#nowMs());
  }
}

/** Opens the sessions of a data folder. Rejects with CORRUPTION when the file `sessions` is not what was written. */
export async function openSessions(options: SessionsOptions): Promise<Sessions> {
  const { disk } = options;
  const { records, journal } = await openJournal(disk, SESSIONS_PATH, AUDIT_PATH, false);
  try {
    const live = new Map<string, Session>();
    for (const [index, record] of records.entries()) {
      const entry = readEntry(record, index);
      if (entry.type === 'begun') live.set(entry.session.digest, entry.session);
      else for (const digest of entry.digests) live.delete(digest);
    }
    const entries = [...live.values()].map((session): SessionEntry => ({ type: 'begun', session }));
    await journal.compact(entries);
    return new Sessions(options, journal, live.values());
  } catch (error) {
    await journal.close();
    throw error;
  }
}

function readEntry(record: unknown, index: number): SessionEntry {
  const entry = fieldsOf(record);
  const { digests } = entry;
  if (entry['type'] === 'ended' && Array.isArray(digests)) {
    return { type: 'ended', digests: digests.map(String) };
  }
  const { digest, startedMs, subject } = fieldsOf(entry['session']);
  const { type, id, passwordNumber } = fieldsOf(subject);
  const known = entry['type'] === 'begun' && typeof digest === 'string' && typeof id === 'string';
  if (!known || typeof startedMs !== 'number' || (type !== 'user' && type !== 'key')) {
    throw new EngineError('CORRUPTION', `record ${index} of sessions is none`);
  }
  const who: Subject =
    type === 'key' ? { type, id } : { type, id, passwordNumber: Number(passwordNumber) };
  return { type: 'begun', session: { digest, startedMs, subject: who } };
}

/** The fields of an object of the file, as a copy without a prototype; none when it is no object. */
function fieldsOf(value: unknown): Record<string, unknown> {
  return Object.assign(Object.create(null), typeof value === 'object' ? value : undefined);
}
