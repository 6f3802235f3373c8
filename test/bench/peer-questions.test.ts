import t from 'tap';
import { corpusOf } from '../../bench/corpus/index.ts';
import { Sample } from '../../bench/peer/parameters.ts';
import { isRefusal, type Parameters } from '../../bench/peer/peer.ts';
import { PEERS } from '../../bench/peer/peers.ts';
import { QUESTIONS } from '../../bench/peer/questions.ts';
import { sampleOf } from '../../bench/peer/run.ts';

/** The questions to every peer, and the data that they are about. */

const HOSTILE: Parameters = {
  commonWord: "o'neil",
  commonWordStandsAlone: true,
  rareWord: 'a"b',
  substring: "it's",
  rareAddress: "' OR 1=1 --",
  rareRequest: '/a?q="b\\c\'',
  host: 'web-"1"',
  requestPattern: '/.*',
  fromMs: 0,
  toMs: 60_000,
};

/** The questions that the bars speak of, by name. */
const FOURTEEN = [
  'count of all',
  'count per minute, status 500',
  'top 10 URLs',
  'top 10 client IPs',
  'average and p95 of response time per minute',
  'rare word in message, newest 100, all columns',
  'common word, newest 100',
  'common word, count',
  'status 500 and one host, newest 100',
  'newest 100',
  'one rare IP, newest 100',
  'distinct IPs (exact)',
  'group by status, verb, host (top 1000)',
  'sum of bytes per hour and host',
];

t.test('the fourteen come first, under their names', async (t) => {
  t.same(
    QUESTIONS.slice(0, FOURTEEN.length).map(({ name }) => name),
    FOURTEEN,
  );
});

t.test('every peer has words for each question, or says why it has none', async (t) => {
  for (const { name, texts } of PEERS) {
    t.same(Object.keys(texts).sort(), QUESTIONS.map((question) => question.name).sort(), name);
    for (const [question, text] of Object.entries(texts)) {
      const words = text(HOSTILE);
      const said = isRefusal(words) ? words.cannot : JSON.stringify(words);
      t.ok(said.length > 0, `${name}, ${question}`);
    }
  }
});

t.test('Logseam is asked each of the fourteen', async (t) => {
  const texts = PEERS.find(({ name }) => name === 'logseam')?.texts ?? {};
  for (const name of FOURTEEN) t.notOk(isRefusal(texts[name]?.(HOSTILE) ?? { cannot: '' }), name);
});

t.test('values stand quoted in SQL', async (t) => {
  const texts = Object.fromEntries(PEERS.map(({ name, texts }) => [name, texts]));
  const asked = 'one rare IP, newest 100';
  t.match(texts['duckdb']?.[asked]?.(HOSTILE), "client_ip = ''' OR 1=1 --'");
  t.match(texts['clickhouse']?.[asked]?.(HOSTILE), "client_ip = '\\' OR 1=1 --'");
});

function eventOf(fields: { message: string; address?: string; request?: string; host?: string }) {
  return JSON.stringify({
    message: fields.message,
    'network.client_ip': fields.address ?? '::1',
    'http.request': fields.request ?? '/',
    'http.ident': fields.host ?? 'a',
  });
}

t.test(
  'parameters are values of the data with the frequencies that they are named for',
  async (t) => {
    const sample = new Sample();
    for (let event = 0; event < 200; event++) {
      const words = ['always', ...(event < 7 ? ['common'] : []), ...(event < 2 ? ['rare'] : [])];
      const address = event < 2 ? '10.0.0.1' : '10.0.0.2';
      sample.add(
        eventOf({ message: words.join(' '), address, request: event === 0 ? '/once' : '/' }),
      );
    }
    const found = sample.parameters(1_000, 61_000);
    t.match(found, {
      commonWord: 'common',
      commonWordStandsAlone: true,
      rareWord: 'rare',
      rareAddress: '10.0.0.1',
      rareRequest: '/once',
      substring: 'lway',
      fromMs: 0,
      toMs: 120_000,
    });
  },
);

t.test('a word that is part of a longer one does not stand alone', async (t) => {
  const sample = new Sample();
  sample.add(eventOf({ message: 'cart art' }));
  sample.add(eventOf({ message: 'cart' }));
  t.equal(sample.parameters(0, 0).commonWordStandsAlone, false);
});

t.test('the access logs have a value for every parameter', async (t) => {
  for (const name of ['access-plain', 'access-rough']) {
    const [parameters] = sampleOf({ make: () => corpusOf(name).make(1), stages: [5_000] });
    for (const [parameter, value] of Object.entries(parameters))
      t.not(value, '', `${name}: ${parameter}`);
  }
});

t.test('each stage is asked for values that the first one has, over all of its time', async (t) => {
  const make = (): (() => string) => corpusOf('access-rough').make(1);
  const [first, last] = sampleOf({ make, stages: [5_000, 50_000_000] });
  t.same({ ...last, toMs: first.toMs }, first);
  t.ok(last.toMs > first.toMs);
});
