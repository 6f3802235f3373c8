/** A sample of metrics in the text format of Prometheus. */
export interface Sample {
  name: string;
  labels: Record<string, string>;
  value: number;
}

/** Families by name: their type and their samples. */
export type Families = Map<string, { type: string; samples: Sample[] }>;

const SAMPLE = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)$/s;
const LABEL = /([a-zA-Z_]\w*)="((?:[^"\\]|\\["\\n])*)"(?:,|$)/gy;

/** Reads the text format, version 0.0.4, strictly. Throws an Error that quotes the first line that is not of it. */
export function readExposition(text: string): Families {
  if (!text.endsWith('\n')) throw new Error('the last line has no end');
  const families: Families = new Map();
  let current = '';
  for (const line of text.slice(0, -1).split('\n')) {
    const comment = /^# (HELP|TYPE) (\S+) (.+)$/.exec(line);
    if (comment?.[1] === 'HELP') {
      if (families.has(comment[2])) throw new Error(`a second time: ${line}`);
      current = comment[2];
    } else if (comment !== null) {
      if (comment[2] !== current) throw new Error(`type without help: ${line}`);
      families.set(current, { type: comment[3], samples: [] });
    } else {
      const sample = readSample(line);
      const base = sample.name.replace(/_(bucket|sum|count)$/, '');
      const family = families.get(current);
      const fits = family?.type === 'histogram' ? base === current : sample.name === current;
      if (family === undefined || !fits) throw new Error(`outside of its family: ${line}`);
      family.samples.push(sample);
    }
  }
  return families;
}

function readSample(line: string): Sample {
  const match = SAMPLE.exec(line);
  if (match === null) throw new Error(`no sample: ${line}`);
  const labels: Record<string, string> = {};
  const text = match[2] ?? '';
  LABEL.lastIndex = 0;
  while (LABEL.lastIndex < text.length) {
    const label = LABEL.exec(text);
    if (label === null) throw new Error(`no labels: ${line}`);
    labels[label[1]] = label[2].replace(/\\(.)/gs, (_, mark) => (mark === 'n' ? '\n' : mark));
  }
  const value = Number(match[3]);
  if (Number.isNaN(value)) throw new Error(`no number: ${line}`);
  return { name: match[1], labels, value };
}

/** The sum of a metric's samples that have these labels. */
export function sumOf(
  families: Families,
  name: string,
  labels: Record<string, string> = {},
): number {
  const family = families.get(name) ?? families.get(name.replace(/_(bucket|sum|count)$/, ''));
  const samples = (family?.samples ?? []).filter(
    (sample) =>
      sample.name === name &&
      Object.entries(labels).every(([label, text]) => sample.labels[label] === text),
  );
  return samples.reduce((sum, { value }) => sum + value, 0);
}
