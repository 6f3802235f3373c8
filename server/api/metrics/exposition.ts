import type { Distribution } from '../../../engine/base/histogram.ts';

/** The content type of the text. */
export const EXPOSITION_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

/** Names and values of a sample's labels; the names are ours, the values anybody's. */
export type Labels = Readonly<Record<string, string>>;

/** The one sample of a metric without labels. */
export function one(value: number): [Labels, number][] {
  return [[{}, value]];
}

/** Writes metrics in the text format of Prometheus, version 0.0.4. */
export class Exposition {
  readonly #lines: string[] = [];

  /** Begins a counter, and writes its samples. Its name ends with `_total`. */
  counter(name: string, help: string, samples: Iterable<[Labels, number]>): void {
    this.#family(name, 'counter', help);
    for (const [labels, value] of samples) this.#sample(name, labels, value);
  }

  /** Begins a gauge, and writes its samples. */
  gauge(name: string, help: string, samples: Iterable<[Labels, number]>): void {
    this.#family(name, 'gauge', help);
    for (const [labels, value] of samples) this.#sample(name, labels, value);
  }

  /** Begins a histogram, and writes its distributions. */
  histogram(name: string, help: string, samples: Iterable<[Labels, Distribution]>): void {
    this.#family(name, 'histogram', help);
    for (const [labels, { bounds, counts, sum }] of samples) {
      let below = 0;
      for (const [place, count] of counts.entries()) {
        below += count;
        const bound = bounds[place];
        const le = bound === undefined ? '+Inf' : String(bound);
        this.#sample(`${name}_bucket`, { ...labels, le }, below);
      }
      this.#sample(`${name}_sum`, labels, sum);
      this.#sample(`${name}_count`, labels, below);
    }
  }

  /** All that was written. */
  text(): string {
    return `${this.#lines.join('\n')}\n`;
  }

  #family(name: string, type: string, help: string): void {
    this.#lines.push(`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`);
  }

  #sample(name: string, labels: Labels, value: number): void {
    const pairs = Object.entries(labels).map(([label, text]) => `${label}="${escaped(text)}"`);
    this.#lines.push(`${name}${pairs.length === 0 ? '' : `{${pairs.join(',')}}`} ${value}`);
  }
}

/** A label's value; a line feed would begin a sample of the stranger's own. */
function escaped(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
}
