import { must } from '../../../engine/base/assert.ts';
import { EngineError } from '../../../engine/base/errors.ts';
import type { Disk } from '../../../engine/base/file.ts';
import { makeId } from '../digest.ts';
import { type Asker, AUDIT_PATH, type Journal, openJournal } from '../journal.ts';
import { checkName } from '../key-record.ts';

/** Path of the record file. */
export const VIEWS_PATH = 'views';

/** Views that a user may have, and that there may be in all. */
export const VIEWS_PER_USER_MAX = 100;
const VIEWS_MAX = 4_096;
/** Characters of the address that a view keeps, at most. */
export const ADDRESS_CHARACTERS_MAX = 4_096;
/** The characters of addresses, all others are percent-encoded. */
const ADDRESS = /^[!-~]*$/;

/** A view that a user keeps: parameters of an address of the console, under a name. */
export interface View {
  readonly id: string;
  /** The id of the user who made it. */
  readonly ownerId: string;
  readonly name: string;
  readonly address: string;
  /** All who log in see it; otherwise its owner alone. */
  readonly isShared: boolean;
  readonly changedMs: number;
}

/** The fields of a view that change. */
export type ViewChange = Partial<Pick<View, 'name' | 'address' | 'isShared'>>;

/** A record of the file `views`: the state of a view from now on, or the id of a deleted one. */
type ViewEntry = { type: 'view'; view: View } | { type: 'deleted'; id: string };

/** The surroundings of the views. */
export interface ViewsOptions {
  disk: Disk;
  nowMs: () => number;
}

/**
 * The views that users keep, in memory and in the file `views`. Owned by the front thread. A change is durable before
 * it is in force. Methods reject with USAGE when what is asked is not allowed, IO when the change cannot be written;
 * then it is not in force.
 */
export class Views {
  readonly #nowMs: () => number;
  readonly #journal: Journal;
  readonly #byId = new Map<string, View>();

  constructor({ nowMs }: ViewsOptions, journal: Journal, entries: readonly ViewEntry[]) {
    this.#nowMs = nowMs;
    this.#journal = journal;
    for (const entry of entries) this.#apply(entry);
  }

  /** The views of all users, oldest first. */
  list(): View[] {
    return [...this.#byId.values()];
  }

  /** The view of an id. */
  get(id: string): View | undefined {
    return this.#byId.get(id);
  }

  /** Damage in one copy of the file that was healed from the other, a sentence each. */
  get healed(): readonly string[] {
    return this.#journal.healed;
  }

  /** Makes a view. `asker` goes to the audit log. */
  create(wanted: Omit<View, 'id' | 'changedMs'>, asker: Asker): Promise<View> {
    return this.#journal.inTurn(async () => {
      const own = this.list().filter(({ ownerId }) => ownerId === wanted.ownerId);
      if (own.length >= VIEWS_PER_USER_MAX) {
        throw new EngineError('USAGE', `the user has ${own.length} views; allowed are so many`);
      }
      if (this.#byId.size >= VIEWS_MAX) {
        throw new EngineError('USAGE', `there are ${VIEWS_MAX} views; allowed are so many`);
      }
      return this.#put({ ...wanted, id: makeId(), changedMs: this.#nowMs() }, asker, 'create');
    });
  }

  /** Changes a view. */
  change(id: string, change: ViewChange, asker: Asker): Promise<View> {
    return this.#journal.inTurn(async () => {
      const view = { ...this.#existing(id), ...change, changedMs: this.#nowMs() };
      return this.#put(view, asker, 'change');
    });
  }

  /** Deletes a view. */
  delete(id: string, asker: Asker): Promise<void> {
    return this.#journal.inTurn(() => this.#remove(this.#existing(id), asker));
  }

  /** Deletes what a user who is gone kept alone; what is shared stays. */
  forget(ownerId: string, asker: Asker): Promise<void> {
    return this.#journal.inTurn(async () => {
      const own = this.list().filter((view) => view.ownerId === ownerId && !view.isShared);
      for (const view of own) await this.#remove(view, asker);
    });
  }

  /** Waits for changes that run; later ones reject with CLOSED. */
  close(): Promise<void> {
    return this.#journal.close();
  }

  #existing(id: string): View {
    const view = this.#byId.get(id);
    if (view === undefined) throw new EngineError('USAGE', `there is no view with the id "${id}"`);
    return view;
  }

  async #put(view: View, asker: Asker, what: string): Promise<View> {
    checkView(view);
    const { id, ownerId, name } = view;
    const isTaken = this.list().some(
      (each) => each.id !== id && each.ownerId === ownerId && each.name === name,
    );
    if (isTaken)
      throw new EngineError('USAGE', `name "${name}" is taken by another view of the user`);
    await this.#write({ type: 'view', view }, view, asker, what);
    return must(this.#byId.get(id), 'view');
  }

  #remove(view: View, asker: Asker): Promise<void> {
    return this.#write({ type: 'deleted', id: view.id }, view, asker, 'delete');
  }

  /** The audit log has no searches of users in it. */
  async #write(entry: ViewEntry, view: View, asker: Asker, what: string): Promise<void> {
    const at = new Date(this.#nowMs()).toISOString();
    const { id, name, isShared: shared } = view;
    await this.#journal.write(entry, [{ at, ...asker, what, resource: 'views', id, name, shared }]);
    this.#apply(entry);
    // Anybody who logs in may change views, so that the file is not left to grow until the next start.
    await this.#journal.compact(this.list().map((each) => ({ type: 'view', view: each })));
  }

  #apply(entry: ViewEntry): void {
    if (entry.type === 'deleted') this.#byId.delete(entry.id);
    else this.#byId.set(entry.view.id, entry.view);
  }
}

/** Throws USAGE when the name or the address of a view is not allowed. */
function checkView({ name, address }: Pick<View, 'name' | 'address'>): void {
  checkName(name);
  if (address.length > ADDRESS_CHARACTERS_MAX) {
    throw new EngineError(
      'USAGE',
      `address has ${address.length} characters; allowed are ${ADDRESS_CHARACTERS_MAX}`,
    );
  }
  if (!ADDRESS.test(address)) {
    throw new EngineError('USAGE', 'address has a character that has to be percent-encoded');
  }
}

/** Opens the views of a data folder. Rejects with CORRUPTION when the file `views` is not what was written. */
export async function openViews(options: ViewsOptions): Promise<Views> {
  const { records, journal } = await openJournal(options.disk, VIEWS_PATH, AUDIT_PATH, false);
  try {
    const last = new Map<string, ViewEntry>();
    for (const [index, record] of records.entries()) {
      const entry = readEntry(record, index);
      if (entry.type === 'view') last.set(entry.view.id, entry);
      else last.delete(entry.id);
    }
    const entries = [...last.values()];
    await journal.compact(entries);
    return new Views(options, journal, entries);
  } catch (error) {
    await journal.close();
    throw error;
  }
}

function readEntry(record: unknown, index: number): ViewEntry {
  const { type, id: deletedId, view } = fieldsOf(record);
  if (type === 'deleted' && typeof deletedId === 'string') return { type, id: deletedId };
  const { id, ownerId, name, address, isShared, changedMs } = fieldsOf(view);
  const areTexts = typeof id === 'string' && typeof ownerId === 'string';
  const isNamed = typeof name === 'string' && typeof address === 'string';
  const isTold = typeof isShared === 'boolean' && typeof changedMs === 'number';
  if (type === 'view' && areTexts && isNamed && isTold) {
    return { type, view: { id, ownerId, name, address, isShared, changedMs } };
  }
  throw new EngineError('CORRUPTION', `record ${index} of views is none`);
}

/** The fields of an object of the file, as a copy without a prototype; none when it is no object. */
function fieldsOf(value: unknown): Record<string, unknown> {
  return Object.assign(Object.create(null), typeof value === 'object' ? value : undefined);
}
