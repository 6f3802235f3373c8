import { connect } from 'node:net';
import { gzipSync } from 'node:zlib';
import t from 'tap';
import { adminToken, define } from '../support/admin.ts';
import { readExposition, sumOf } from '../support/exposition.ts';
import {
  type Answer,
  ask,
  removeFolder,
  request,
  send,
  startService,
  temporaryFolder,
} from '../support/service.ts';

const folder = temporaryFolder();
const service = await startService(folder, [
  ...['--ingest-workers', '1', '--query-workers', '1', '--metrics-open', 'true'],
]);
t.teardown(async () => {
  await service.stop();
  removeFolder(folder);
});

/** How many events a search finds. */
async function countOf(search: string): Promise<number> {
  const answer = await ask(service, '/beta/events/aggregate', {
    time: { from: 'now-1h', to: 'now+1h' },
    filters: [{ search }],
    compute: [{ metric: { id: 'count', output: 'hits' } }],
  });
  const { aggregates } = (answer.body as { result: { aggregates: { values: { hits: number } }[] } })
    .result;
  return aggregates[0]?.values.hits ?? 0;
}

function sendZipped(content: Uint8Array, query = '', type = 'application/json'): Promise<Answer> {
  return request(`${service.http}/v1/input/${service.writeKey}${query}`, {
    method: 'POST',
    headers: {
      'content-type': type,
      'content-encoding': 'gzip',
      'x-service-add-ip': 'ip',
      'x-service-add-useragent': 'agent',
    },
    body: content as BodyInit,
  });
}

/** Sends events over HTTP and TCP one by one until it is told to stop; resolves with how many there were. */
function neighbour(): () => Promise<number> {
  let count = 0;
  let isOver = false;
  const socket = connect({ port: service.tcpPort, host: '127.0.0.1', allowHalfOpen: true });
  const ended = new Promise((resolve, reject) => socket.on('end', resolve).on('error', reject));
  socket.resume();
  const running = (async () => {
    while (!isOver) {
      const answer = await send(service, `{"neighbour":${count}}`);
      if (answer.status !== 200) throw new Error(answer.text);
      socket.write(`${service.writeKey} {"neighbour":${count + 1}}\n`);
      count += 2;
    }
    socket.end();
    await ended;
    return count;
  })();
  return () => {
    isOver = true;
    return running;
  };
}

t.test('1.3 bodies of a million tiny events are refused, and neighbours go on', async (t) => {
  const attack = gzipSync(Buffer.from(`[${'1,'.repeat(1_650_000)}1]`));
  const stop = neighbour();
  const bodies = [1, 2].map(() => sendZipped(attack, '?hostname=h&appname=attack&username=u'));
  let isOver = false;
  const answers = Promise.all(bodies).finally(() => {
    isOver = true;
  });
  let between = 0;
  while (!isOver) {
    t.equal((await send(service, '{"between":1}')).status, 200);
    between++;
  }
  for (const { status, text } of await answers) {
    t.equal(status, 413);
    t.match(text, /the body has more than 1048576 events/);
  }
  t.ok(between > 3, `${between} requests were answered between`);
  const sent = await stop();
  t.equal(await countOf('neighbour:*'), sent);
  t.equal(await countOf('appname:attack'), 0);
});

t.test(
  '1.3 a body of several pieces is stored whole, with what it adds to each event',
  async (t) => {
    const events = Array.from({ length: 40_000 }, (_, at) => `{"large":${at}}`);
    const answer = await sendZipped(gzipSync(`[${events.join(',')}]`), '?appname=pieces');
    t.equal(answer.status, 200);
    t.equal(await countOf('large:* appname:pieces agent:* ip:*'), events.length);
    const lines = events.map((event) => event.replace('large', 'lines')).join('\n');
    t.equal((await send(service, lines, 'text/plain')).status, 200);
    t.equal(await countOf('lines:*'), events.length);
    const frames = events.map((event) => `${event.length} ${event}`).join('\n');
    t.equal((await send(service, frames, 'application/logplex-1')).status, 200);
    t.equal(await countOf('large:*'), 2 * events.length);
  },
);

t.test('1.3 a fault in a later piece refuses the body whole', async (t) => {
  const events = Array.from({ length: 10_000 }, () => '{"refused":1}').join(',');
  const answer = await send(service, `[${events},{"refused":]`);
  t.equal(answer.status, 400);
  t.equal(await countOf('refused:*'), 0);
});

t.test('1.3 a body that only begins like JSON is stored as lines, once', async (t) => {
  const lines = Array.from({ length: 10_000 }, (_, at) => `{"undeclared":${at}}`);
  const answer = await send(service, `${lines.join('\n')}\nundeclared text`, 'x/unknown');
  t.equal(answer.status, 200);
  t.equal(await countOf('undeclared:*'), lines.length);
  t.equal(await countOf('"undeclared text"'), 1);
});

t.test('1.3 an event counts as 64 bytes at least', async (t) => {
  const usedBytes = async (): Promise<number> => {
    const { text } = await request(`${service.http}/metrics`);
    return sumOf(readExposition(text), 'logseam_event_bytes_total', {});
  };
  const before = await usedBytes();
  t.equal((await send(service, `[${'1,'.repeat(9_999)}1]`)).status, 200);
  t.equal((await usedBytes()) - before, 640_000);
});

t.test('1.3 rules that cost too much for a text leave the event as it was', async (t) => {
  const rules = Array.from(
    { length: 10 },
    (_, at) =>
      `r${at} %{data:a} host=%{notSpace:b} %{data:c} \\[%{number:d}\\]: %{data:e} end${at} %{data:f}`,
  );
  const grok = { name: 'costly', kind: 'grok', enabled: true, filter: 'costly' };
  await define(service, 'extensions', { ...grok, rules: rules.join('\n') });
  const miss = `host=x [1]: end0 end1 end2 end3 end4 end5 end6 end7 end8 end9 ${' host=x [1]:'.repeat(2_000)}`;
  const before = await countOf('neighbour:*');
  const stop = neighbour();
  const lines = Array.from({ length: 50 }, () => `costly ${miss}`).join('\n');
  const answer = await sendZipped(gzipSync(lines), '', 'text/plain');
  t.equal(answer.status, 200);
  t.equal(await countOf('costly'), 50);
  const sent = await stop();
  t.equal(await countOf('neighbour:*'), before + sent);
  const { text } = await request(`${service.http}/metrics`);
  t.match(text, /^logseam_decode_repairs_total\{repair="pattern_over_budget"\} [1-9]/m);
  const troubles = await request(`${service.http}/admin/api/troubles`, {
    headers: { authorization: `Bearer ${adminToken(service)}` },
  });
  t.match(troubles.text, /"kind":"pattern_over_budget","count":[1-9]/);
});

t.test('1.3 lines of a socket that are decoded in pieces are all stored', async (t) => {
  const lines = Array.from({ length: 12_000 }, (_, at) => `${service.writeKey} s ${at}\n`);
  await new Promise((resolve, reject) => {
    const socket = connect({ port: service.tcpPort, host: '127.0.0.1', allowHalfOpen: true });
    socket.on('error', reject).on('end', resolve).resume();
    socket.end(lines.join(''));
  });
  t.equal(await countOf('s'), lines.length);
});
