import { type DateFormResult, parseDateForm } from '../../engine/column/date-form.ts';
import { Kind } from '../../engine/column/kind.ts';
import { PATH_ROOT, type PathTable } from '../../engine/column/path.ts';
import { NUMBER_AS_TEXT, type Rows } from '../../engine/column/rows.ts';

/** A leaf as tests write it: names from the root, and a value. `text` is a string's own text. */
export type TestLeaf = { names: string[] } & (
  | { kind: 'null' }
  | { kind: 'object' }
  | { kind: 'boolean'; value: boolean }
  | { kind: 'number' | 'string' | 'array' | 'date'; text: string }
);

export interface TestRow {
  timeMs: number;
  leaves: TestLeaf[];
}

/** WTF-8 of a JavaScript string: UTF-8, and three bytes for each lone surrogate. */
export function encodeText(text: string): Uint8Array {
  if (text.isWellFormed()) return Buffer.from(text);
  const parts: Uint8Array[] = [];
  for (const character of text) {
    const code = character.charCodeAt(0);
    if (character.length === 1 && code >= 0xd800 && code <= 0xdfff) {
      parts.push(Uint8Array.of(0xed, 0x80 | ((code >> 6) & 0x3f), 0x80 | (code & 0x3f)));
    } else parts.push(Buffer.from(character));
  }
  return Buffer.concat(parts);
}

const KINDS: Record<TestLeaf['kind'], Kind> = {
  null: Kind.NULL,
  object: Kind.OBJECT,
  boolean: Kind.BOOLEAN,
  number: Kind.NUMBER,
  string: Kind.STRING,
  array: Kind.ARRAY,
  date: Kind.DATE,
};

function numberParts(text: string): [value: number, detail: number] {
  const match = /^(-?(?:0|[1-9]\d*))(?:\.(\d{1,22}))?$/.exec(text);
  const mantissa = match === null ? Number.NaN : Number(`${match[1]}${match[2] ?? ''}`);
  return Number.isSafeInteger(mantissa) && !Object.is(mantissa, -0)
    ? [mantissa, match?.[2]?.length ?? 0]
    : [Number(text), NUMBER_AS_TEXT];
}

const date: DateFormResult = { form: 0, value: 0, timeMs: 0 };

/** Adds `row` to `rows`, its texts in the side buffer. A date that has no form becomes a string. */
export function addRow(rows: Rows, paths: PathTable, row: TestRow): void {
  for (const leaf of row.leaves) {
    let path = PATH_ROOT;
    for (const name of leaf.names) {
      const bytes = encodeText(name);
      path = paths.intern(path, bytes, 0, bytes.length);
    }
    let kind = KINDS[leaf.kind];
    if (leaf.kind === 'null' || leaf.kind === 'object') rows.add(path, kind, 0, 0, 0, 0);
    else if (leaf.kind === 'boolean') rows.add(path, kind, 0, leaf.value ? 1 : 0, 0, 0);
    else {
      const bytes = encodeText(leaf.text);
      const start = rows.addSide(bytes);
      let [value, detail] = leaf.kind === 'number' ? numberParts(leaf.text) : [0, 0];
      if (leaf.kind === 'date') {
        if (parseDateForm(bytes, 0, bytes.length, date)) [value, detail] = [date.value, date.form];
        else kind = Kind.STRING;
      }
      rows.add(path, kind, start, bytes.length, value, detail);
    }
  }
  rows.endRow(row.timeMs);
}

/** JSON text of a leaf's value. */
export function leafText(leaf: TestLeaf): string {
  if (leaf.kind === 'null') return 'null';
  if (leaf.kind === 'object') return '{}';
  if (leaf.kind === 'boolean') return String(leaf.value);
  return leaf.kind === 'number' || leaf.kind === 'array' ? leaf.text : JSON.stringify(leaf.text);
}

type Tree = Map<string, Tree | string>;

function printTree(tree: Tree): string {
  const fields = [...tree].map(
    ([name, value]) =>
      `${JSON.stringify(name)}:${typeof value === 'string' ? value : printTree(value)}`,
  );
  return `{${fields.join(',')}}`;
}

/** The event that a naive builder makes of the leaves: a tree of maps, printed. */
export function naiveEvent(leaves: TestLeaf[]): string {
  const event: Tree = new Map([['custom', new Map()]]);
  for (const leaf of leaves) {
    if (leaf.kind === 'object' && leaf.names.length === 1) {
      if (!event.has(leaf.names[0])) event.set(leaf.names[0], new Map());
      continue;
    }
    let tree = event;
    for (const name of leaf.names.slice(0, -1)) {
      let child = tree.get(name);
      if (child === undefined) {
        child = new Map();
        tree.set(name, child);
      }
      tree = child as Tree;
    }
    tree.set(leaf.names[leaf.names.length - 1], leafText(leaf));
  }
  const parts: Tree = new Map();
  for (const root of ['custom', 'syslog', 'message']) {
    const part = event.get(root);
    if (part !== undefined) parts.set(root, part);
  }
  return printTree(parts);
}
