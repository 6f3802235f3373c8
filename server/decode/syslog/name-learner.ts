import { EQUALS } from '../../../engine/base/ascii.ts';
import { PATH_CUSTOM, PATH_MESSAGE, PATH_SYSLOG } from '../../../engine/column/path.ts';
import { type KeyTable, SYSLOG_LEVEL } from '../key.ts';
import { type LeafReader, Role } from '../leaf.ts';
import { Note } from '../pairs.ts';
import type { LineLearner, Member } from '../template/learner.ts';
import { NodeType } from '../template/template-kernel.ts';
import type { SyslogReader } from './syslog.ts';

/** Part behind those of a header: the text. */
const TEXT_PART = 10;

/** Finds the names of syslog lines that the reference has read, and the paths that they mean. Owned by one thread. */
export class NameLearner implements LineLearner {
  readonly #keys: KeyTable;
  readonly #roles: Uint8Array;
  readonly #syslog: SyslogReader;

  constructor(keys: KeyTable, { roles }: LeafReader, syslog: SyslogReader) {
    this.#keys = keys;
    this.#roles = roles;
    this.#syslog = syslog;
  }

  /**
   * The parts of headers, and the names of the line that was read last; `undefined` when names in it repeat or collide,
   * or it has an object. Names that the kernel could not read, in quotes or with places of their own, are left out.
   */
  find(bytes: Uint8Array): Member[] | undefined {
    if (!this.#syslog.isFlat) return undefined;
    return [...this.#parts(), ...this.#elements(bytes), ...this.#pairs(bytes)];
  }

  *#parts(): Generator<Member> {
    for (const [part, path] of this.#syslog.paths.entries()) yield partOf(part, path);
    yield partOf(TEXT_PART, PATH_MESSAGE);
  }

  *#elements(bytes: Uint8Array): Generator<Member> {
    const { count, note, nameStart, nameEnd } = this.#syslog.elements;
    let container = PATH_SYSLOG as number;
    for (let place = 0; place < count; place++) {
      const start = nameStart[place];
      const end = nameEnd[place];
      const isElement = note[place] === Note.ELEMENT;
      // The blank behind the name of an element, and `="` behind that of a member.
      const behind = isElement ? end + 1 : end + 2;
      const around = isElement ? PATH_SYSLOG : container;
      const path = isElement
        ? this.#keys.child(PATH_SYSLOG, bytes, start, end)
        : this.#keys.resolve(container, bytes, start, end);
      if (isElement) container = path;
      if (path >= 0) yield nameOf(start, behind, path, around);
    }
  }

  *#pairs(bytes: Uint8Array): Generator<Member> {
    const { count, nameStart, nameEnd } = this.#syslog.pairs;
    for (let place = 0; place < count; place++) {
      const start = nameStart[place];
      const end = nameEnd[place];
      if (bytes[end] !== EQUALS) continue;
      const path = this.#keys.resolve(PATH_CUSTOM, bytes, start, end);
      if (path < 0 || this.#keys.level[path] >= SYSLOG_LEVEL) continue;
      const role = this.#roles[path];
      if (role === Role.NONE || role >= Role.DATE) yield nameOf(start, end + 1, path, PATH_CUSTOM);
    }
  }
}

function partOf(part: number, path: number): Member {
  const type = NodeType.PART;
  return { start: 0, end: 0, type, path, around: `part ${part}`, container: part, opened: [] };
}

function nameOf(start: number, end: number, path: number, container: number): Member {
  return { start, end, type: NodeType.NAME, path, around: `${container}`, container, opened: [] };
}
