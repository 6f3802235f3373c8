import { parseArgs } from 'node:util';
import { CORPORA, corpusOf } from './corpus/index.ts';
import { type Statistics, statisticsOf } from './corpus/statistics.ts';

/** `node bench/corpora.ts [name ...] [--events 100000] [--seed 1]`: the statistics of the corpora as a Markdown table. */

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    events: { type: 'string', default: '100000' },
    seed: { type: 'string', default: '1' },
  },
});

const count = (value: number): string => Math.round(value).toLocaleString('en');

function line(name: string, { bytes, distinct, shapes, entropy, gzip }: Statistics): string {
  const sizes = [bytes.mean, bytes.p50, bytes.p99, bytes.max].map(count).join(' / ');
  const values = distinct.map(({ attribute, values }) => `\`${attribute}\` ${count(values)}`);
  return `| \`${name}\` | ${sizes} | ${count(shapes)} | ${entropy.toFixed(2)} | ${gzip.toFixed(1)} | ${values.join(', ')} |`;
}

try {
  const corpora = positionals.length === 0 ? CORPORA : positionals.map(corpusOf);
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
