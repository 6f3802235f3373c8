import { type ChildProcess, spawn } from 'node:child_process';
import t from 'tap';
import { Day } from '../../demo/day.ts';
import { DEFINITIONS } from '../../demo/definitions.ts';
import { SOURCES } from '../../demo/event.ts';
import { removeFolder, request, temporaryFolder } from '../support/service.ts';

const MAIN = new URL('../../demo/main.ts', import.meta.url).pathname;
const DAY_MS = 86_400_000;

const folder = temporaryFolder();
t.teardown(async () => removeFolder(folder));

interface Started {
  child: ChildProcess;
  output: string;
  base: string;
}

/** Starts the demonstration; resolves when its day is there. */
function startDemo(): Promise<Started> {
  const off = { LOGSEAM_HTTPS: 'off', LOGSEAM_TLS: 'off', LOGSEAM_TCP: 'off', LOGSEAM_UDP: 'off' };
  const child = spawn(
    process.execPath,
    ['--no-warnings', MAIN, '--data', `${folder}/data`, '--events', '3000'],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { ...process.env, ...off, LOGSEAM_HTTP: '127.0.0.1:0', NODE_OPTIONS: '' },
    },
  );
  return new Promise((resolve, reject) => {
    let output = '';
    child.stdout.on('data', (chunk: Buffer) => {
      output += chunk.toString();
      const base = /^Open (http:\/\/\S+)\/ /m.exec(output)?.[1];
      if (base !== undefined) resolve({ child, output, base });
    });
    child.on('exit', (code) => reject(new Error(`ended with ${code}: ${output}`)));
  });
}

function stopped({ child }: Started): Promise<number | null> {
  const ended = new Promise<number | null>((resolve) => child.on('exit', resolve));
  child.kill('SIGINT');
  return ended;
}

t.test('a day has its events in the day, and the same ones for a seed', async (t) => {
  const endMs = Date.parse('2026-03-02T00:00:00Z');
  const texts = (seed: number): string[] =>
    [...new Day(seed, endMs, 2_000).minutes()].flat().map(({ text }) => text);
  t.same(texts(1), texts(1));
  t.not(texts(1).join(), texts(2).join());
  const events = [...new Day(1, endMs, 20_000).minutes()].flat();
  t.ok(Math.abs(events.length - 20_000) < 2_000, `${events.length} events`);
  t.ok(events.every(({ timeMs }) => timeMs >= endMs - DAY_MS && timeMs < endMs + 60_000));
  t.same([...new Set(events.map(({ source }) => source))].sort(), [...SOURCES].sort());
  const failed = events.filter(({ text }) => text.includes('"version":"2.4.1"'));
  t.ok(failed.some(({ text }) => text.includes('SQLTransientConnectionException')));
});

t.test(
  'it starts with its day and all that is defined, which works, and goes on with it',
  async (t) => {
    const first = await startDemo();
    t.match(first.output, /A day of a web shop is there, [\d,]+ events/);
    const key = /read key +(\S+)/.exec(first.output)?.[1] ?? '';
    const headers = { 'content-type': 'application/json', 'x-api-key': key };
    const [, analyses] = DEFINITIONS.find(([resource]) => resource === 'saved_analyses') ?? [];
    for (const { id } of analyses as { id: string }[]) {
      const url = `${first.base}/beta/saved_analyses/${id}/execute`;
      const { status, text } = await request(url, { method: 'POST', headers, body: '{}' });
      t.equal(status, 200, `${id}: ${text.slice(0, 200)}`);
      if (id !== 'faults') t.notMatch(text, /"values":\[\]/, id);
    }
    t.equal(await stopped(first), 0);
    const again = await startDemo();
    t.notMatch(again.output, /A day of a web shop is there/);
    t.equal(await stopped(again), 0);
  },
);
