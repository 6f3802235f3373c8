import { parseArgs } from 'node:util';
import { fileCorpus } from './corpus/file.ts';
import { CORPORA, type Corpus, corpusOf } from './corpus/index.ts';
import { type Statistics, statisticsOf } from './corpus/statistics.ts';

/**
 * `node bench/corpora.ts [name ...] [--file PATH] [--events 100000] [--seed 1]`: the statistics of the corpora, or of
 * the lines of a file, as a Markdown table.
 */

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    events: { type: 'string', default: '100000' },
    seed: { type: 'string', default: '1' },
    file: { type: 'string' },
  },
});

const HEAD =
  '| corpus | stands for | bytes: mean / p50 / p99 / max | shapes | bits a byte | gzip | distinct values | bound |';

const count = (value: number): string => Math.round(value).toLocaleString('en');

/** The line of a corpus in the table. */
function line({ name, what, bound }: Corpus, statistics: Statistics): string {
  const { bytes, distinct, shapes, entropy, gzip } = statistics;
  const sizes = [bytes.mean, bytes.p50, bytes.p99, bytes.max].map(count).join(' / ');
  const values = distinct.map(({ attribute, values }) => `\`${attribute}\` ${count(values)}`);
  const cells = [sizes, count(shapes), entropy.toFixed(1), gzip.toFixed(1), values.join(', ')];
  return `| ${[`\`${name}\``, what, ...cells, bound].join(' | ')} |`;
}

/** The corpora that were named, all of them when none was. */
function wanted(): readonly Corpus[] {
  if (values.file !== undefined) return [fileCorpus(values.file)];
  return positionals.length === 0 ? CORPORA : positionals.map(corpusOf);
}

try {
  const corpora = wanted();
  console.log(HEAD);
  console.log('|---|---|---|---|---|---|---|---|');
  for (const corpus of corpora) {
    const statistics = statisticsOf(corpus, Number(values.events), Number(values.seed));
    console.log(line(corpus, statistics));
  }
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error));
  process.exitCode = 2;
}
