import { EQUALS } from '../../../engine/base/ascii.ts';
import { PATH_CUSTOM, PATH_MESSAGE, PATH_SYSLOG } from '../../../engine/column/path.ts';
import type { KeyTable } from '../key.ts';
import { type LeafReader, Role } from '../leaf.ts';
import { Note } from '../pairs.ts';
import type { LineLearner, Member } from '../template/learner.ts';
import { NodeType } from '../template/template-kernel.ts';
import type { SyslogReader } from './syslog.ts';

/** Finds the names of syslog lines that the reference has read, and the paths that they mean. Owned by one thread. */
export class NameLearner implements LineLearner {
  readonly #keys: KeyTable;
  readonly #roles: Uint8Array;
  readonly #syslog: SyslogReader;
  /** The parts of headers, and the text. */
  readonly #parts: readonly Member[];

  constructor(keys: KeyTable, { roles }: LeafReader, syslog: SyslogReader) {
    this.#keys = keys;
    this.#roles = roles;
    this.#syslog = syslog;
    this.#parts = [...syslog.paths, PATH_MESSAGE].map(partOf);
  }

  /**
   * The parts of headers, and the names of the line that was read last; `undefined` when names in it repeat or collide,
   * or it has an object. Names in quotes, and the one that may be a write key, are for the reference, and left out.
   */
  find(bytes: Uint8Array): Member[] | undefined {
    if (!this.#syslog.isFlat) return undefined;
    const members = [...this.#parts];
    this.#addElements(members, bytes);
    this.#addPairs(members, bytes);
    return members;
  }

  #addElements(members: Member[], bytes: Uint8Array): void {
    const { count, note, nameStart, nameEnd } = this.#syslog.elements;
    let container = PATH_SYSLOG as number;
    for (let place = 0; place < count; place++) {
      const start = nameStart[place];
      const end = nameEnd[place];
      if (note[place] === Note.ELEMENT) {
        container = this.#keys.child(PATH_SYSLOG, bytes, start, end);
        // With the blank behind it.
        members.push(nameOf(start, end + 1, container, PATH_SYSLOG));
      } else {
        const path = this.#pathOf(container, bytes, start, end);
        // With `="` behind it.
        members.push(nameOf(start, end + 2, path, container));
      }
    }
  }

  #addPairs(members: Member[], bytes: Uint8Array): void {
    const { count, nameStart, nameEnd } = this.#syslog.pairs;
    for (let place = 0; place < count; place++) {
      const start = nameStart[place];
      const end = nameEnd[place];
      if (bytes[end] !== EQUALS) continue;
      const path = this.#pathOf(PATH_CUSTOM, bytes, start, end);
      if (this.#roles[path] !== Role.WRITE_KEY)
        members.push(nameOf(start, end + 1, path, PATH_CUSTOM));
    }
  }

  #pathOf(container: number, bytes: Uint8Array, start: number, end: number): number {
    const key = this.#keys.find(container, bytes, start, end);
    return key >= 0 ? this.#keys.path[key] : this.#keys.resolve(container, bytes, start, end);
  }
}

function partOf(path: number, part: number): Member {
  const type = NodeType.PART;
  return { start: 0, end: 0, type, path, around: '', container: part, opened: [] };
}

function nameOf(start: number, end: number, path: number, container: number): Member {
  return { start, end, type: NodeType.NAME, path, around: '', container, opened: [] };
}
