import { parseArgs } from 'node:util';
import { fileCorpus } from './corpus/file.ts';
import { CORPORA, type Corpus, corpusOf } from './corpus/index.ts';
import { type Statistics, statisticsOf } from './corpus/statistics.ts';

/**
 * `node bench/corpora.ts [name ...] [--file PATH] [--events 100000] [--seed 1]`: the statistics of the corpora, or of the
 * lines of a file, as a Markdown table.
 */

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    events: { type: 'string', default: '100000' },
    seed: { type: 'string', default: '1' },
    file: { type: 'string' },
  },
});

const count = (value: number): string => Math.round(value).toLocaleString('en');

function line(name: string, { bytes, distinct, shapes, entropy, gzip }: Statistics): string {
  const sizes = [bytes.mean, bytes.p50, bytes.p99, bytes.max].map(count).join(' / ');
  const values = distinct.map(({ attribute, values }) => `\`${attribute}\` ${count(values)}`);
  return `| \`${name}\` | ${sizes} | ${count(shapes)} | ${entropy.toFixed(2)} | ${gzip.toFixed(1)} | ${values.join(', ')} |`;
}

/** The corpora that were named, all of them when none was. */
function wanted(): readonly Corpus[] {
  if (values.file !== undefined) return [fileCorpus(values.file)];
  return positionals.length === 0 ? CORPORA : positionals.map(corpusOf);
}

try {
  const corpora = wanted();
  console.log(
    '| corpus | bytes: mean / p50 / p99 / max | shapes | bits a byte | gzip | distinct |',
  );
  console.log('|---|---|---|---|---|---|');
  for (const corpus of corpora) {
    const statistics = statisticsOf(corpus, Number(values.events), Number(values.seed));
    console.log(line(corpus.name, statistics));
  }
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error));
  process.exitCode = 2;
}
