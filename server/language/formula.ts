/** A formula as a tree; `metric` is an id as it was written. */
export type FormulaNode =
  | { type: 'number'; value: number }
  | { type: 'metric'; id: string }
  | { type: 'operation'; operator: '+' | '-' | '*' | '/'; left: FormulaNode; right: FormulaNode };

/** A text that is no formula; the message begins with the position, in UTF-16 units from 0. */
export class FormulaError extends Error {
  constructor(position: number, expected: string) {
    super(`at position ${position}: expected ${expected}`);
    this.name = 'FormulaError';
  }
}

const DEPTH_MAX = 50;
const NODES_MAX = 500;

const TOKEN =
  /\s*(?:([-+*/()])|((?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)(?![\w.:@])|"([^"]+)"|([^\s"+*/()-][^\s"+*/()]*[^\s"+*/()-]|[^\s"+*/()-]))/y;

/** Reads a formula by recursive descent. */
class FormulaParser {
  readonly #text: string;
  #at = 0;
  #depth = 0;
  #nodes = 0;
  /** The token at which it is; all parts are undefined at the end. */
  #token: RegExpExecArray | undefined;
  #tokenAt = 0;

  constructor(text: string) {
    this.#text = text;
    this.#next();
  }

  whole(): FormulaNode {
    const node = this.#sum();
    if (this.#token !== undefined) this.#fail('an operator or the end');
    return node;
  }

  #sum(): FormulaNode {
    if (++this.#depth > DEPTH_MAX) this.#fail(`at most ${DEPTH_MAX} levels of parentheses`);
    let left = this.#product();
    for (let sign = this.#sign(); sign === '+' || sign === '-'; sign = this.#sign()) {
      this.#next();
      left = this.#node({ type: 'operation', operator: sign, left, right: this.#product() });
    }
    this.#depth--;
    return left;
  }

  #product(): FormulaNode {
    let left = this.#operand();
    for (let sign = this.#sign(); sign === '*' || sign === '/'; sign = this.#sign()) {
      this.#next();
      left = this.#node({ type: 'operation', operator: sign, left, right: this.#operand() });
    }
    return left;
  }

  #operand(): FormulaNode {
    const sign = this.#sign();
    if (sign === '-') {
      this.#next();
      if (++this.#depth > DEPTH_MAX) this.#fail(`at most ${DEPTH_MAX} signs`);
      const right = this.#operand();
      this.#depth--;
      const left = this.#node({ type: 'number', value: -1 });
      return this.#node({ type: 'operation', operator: '*', left, right });
    }
    if (sign === '(') {
      this.#next();
      const node = this.#sum();
      if (this.#sign() !== ')') this.#fail('")"');
      this.#next();
      return node;
    }
    const [, , number, quoted, plain] = this.#token ?? [];
    const id = quoted ?? plain;
    if (number === undefined && id === undefined) this.#fail('a metric id, a number or "("');
    const node: FormulaNode =
      number === undefined
        ? { type: 'metric', id: id ?? '' }
        : { type: 'number', value: Number(number) };
    if (node.type === 'number' && !Number.isFinite(node.value)) this.#fail('a smaller number');
    this.#next();
    return this.#node(node);
  }

  #sign(): string | undefined {
    return this.#token?.[1];
  }

  #node(node: FormulaNode): FormulaNode {
    if (++this.#nodes > NODES_MAX)
      this.#fail(`at most ${NODES_MAX} metrics, numbers and operators`);
    return node;
  }

  /** Goes to the next token. */
  #next(): void {
    TOKEN.lastIndex = this.#at;
    const blanks = /\s*/y;
    blanks.lastIndex = this.#at;
    blanks.exec(this.#text);
    this.#tokenAt = blanks.lastIndex;
    this.#token = TOKEN.exec(this.#text) ?? undefined;
    if (this.#token !== undefined) this.#at = TOKEN.lastIndex;
    else if (this.#tokenAt < this.#text.length) this.#fail('a metric id, a number or an operator');
  }

  #fail(expected: string): never {
    throw new FormulaError(this.#tokenAt, expected);
  }
}

/**
 * Reads arithmetic over metric ids with `+ - * / ( )` and numbers. An id may hold a minus behind its first character,
 * so that blanks are needed around the operator there; one with blanks or operators in it stands in double quotes.
 * Throws FormulaError. Source: INTERFACE.md 4.8.
 */
export function parseFormula(text: string): FormulaNode {
  return new FormulaParser(text).whole();
}

/** The metric ids in a formula's text, as often as they are there. Throws FormulaError. */
export function formulaMetrics(text: string): string[] {
  const ids: string[] = [];
  const walk = (node: FormulaNode): void => {
    if (node.type === 'metric') ids.push(node.id);
    if (node.type !== 'operation') return;
    walk(node.left);
    walk(node.right);
  };
  walk(parseFormula(text));
  return ids;
}
