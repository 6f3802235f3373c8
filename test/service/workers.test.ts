import { connect } from 'node:net';
import t from 'tap';
import { readExposition, sumOf } from '../support/exposition.ts';
import { startMortal, untilReplaced } from '../support/mortal-service.ts';
import { ask, listAll, request, sendTcp, startService } from '../support/service.ts';

t.test('an ingest worker that dies is replaced, and nothing acknowledged is lost', async (t) => {
  const { service, die } = await startMortal(t, [
    ...['--ingest-workers', '2', '--query-workers', '1', '--metrics-open', 'true'],
  ]);
  const acknowledged = new Set<number>();
  const statuses = new Map<number, number>();
  let number = 0;
  let over = false;
  const sender = async (): Promise<void> => {
    while (!over) {
      const numbers = Array.from({ length: 1 + (number % 20) }, () => number++);
      const answer = await request(`${service.http}/v1/input/${service.writeKey}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(numbers.map((n) => ({ n, group: numbers[0], size: numbers.length }))),
      });
      statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
      if (answer.status === 200) for (const n of numbers) acknowledged.add(n);
    }
  };
  const senders = [sender(), sender(), sender(), sender()];
  for (const [death, thread] of [1, 2].entries()) {
    const goal = acknowledged.size + 300;
    while (acknowledged.size < goal) await new Promise((resolve) => setImmediate(resolve));
    die(thread);
    await untilReplaced(service, 'ingest', death + 1, 2);
  }
  const goal = acknowledged.size + 300;
  while (acknowledged.size < goal) await new Promise((resolve) => setImmediate(resolve));
  over = true;
  await Promise.all(senders);
  t.comment(`answers by status: ${JSON.stringify([...statuses])}`);
  t.same(
    [...statuses.keys()].filter((status) => ![200, 503].includes(status)),
    [],
  );
  await sendTcp(service.tcpPort, `${service.writeKey} {"n":-1,"group":-1,"size":1}\n`);

  const live = (await listAll(service)).map(({ event }) => event.custom['n']);
  t.equal(await service.stop(), 0);
  const again = { ...(await startService(service.folder)), readKey: service.readKey };
  const events = (await listAll(again)).map(({ event }) => event.custom as Record<string, number>);
  await again.stop();
  const stored = events.map(({ n }) => n);
  const there = new Set(stored);
  t.same(new Set(live), there, 'a start anew shows the same');
  t.equal(there.size, stored.length, 'nothing is there twice');
  t.same(
    [...acknowledged, -1].filter((n) => !there.has(n)),
    [],
  );
  const sizes = new Map<number, number>();
  for (const { group } of events) sizes.set(group, (sizes.get(group) ?? 0) + 1);
  t.same(
    events.filter(({ group, size }) => sizes.get(group) !== size),
    [],
    'all are whole',
  );
  t.match(service.output(), /"a worker died, another takes its place","what":"ingest","worker":0/);
});

/**
 * Sends lines and half-closes; resolves with how the service ended the connection: `end` in order, or an error's code.
 */
function sendLines(port: number, text: string): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    socket.resume();
    socket.on('end', () => {
      resolve('end');
      socket.destroy();
    });
    socket.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? 'error'));
    socket.end(text);
  });
}

t.test('a worker that dies resets its connections, and those of others go on', async (t) => {
  const { service, die } = await startMortal(t, [
    ...['--ingest-workers', '3', '--query-workers', '1', '--metrics-open', 'true'],
  ]);
  const acknowledged = new Set<number>();
  const endings = new Map<string, number>();
  let number = 0;
  let over = false;
  const sender = async (): Promise<void> => {
    while (!over) {
      const numbers = Array.from({ length: 1 + (number % 300) }, () => number++);
      const lines = numbers.map((n) => `${service.writeKey} {"n":${n}}\n`);
      const ending = await sendLines(service.tcpPort, lines.join(''));
      endings.set(ending, (endings.get(ending) ?? 0) + 1);
      if (ending === 'end') for (const n of numbers) acknowledged.add(n);
    }
  };
  const idle = Array.from({ length: 48 }, () => {
    const socket = connect(service.tcpPort, '127.0.0.1');
    const closed = new Promise<string>((resolve) => {
      socket.on('end', () => resolve('end'));
      socket.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? 'error'));
    });
    return { socket, closed };
  });
  const senders = Array.from({ length: 12 }, sender);
  const untilMore = async (): Promise<void> => {
    const goal = acknowledged.size + 2_000;
    while (acknowledged.size < goal) await new Promise((resolve) => setImmediate(resolve));
  };
  const ways = ['', 'throw', 'fill'] as const;
  for (const [death, how] of ways.entries()) {
    await untilMore();
    die(death + 1, how);
    await untilReplaced(service, 'ingest', death + 1, 3);
  }
  await untilMore();
  over = true;
  await Promise.all(senders);
  t.comment(`endings: ${JSON.stringify([...endings])}`);
  t.same(new Set(await Promise.all(idle.map(({ closed }) => closed))), new Set(['ECONNRESET']));
  const families = readExposition((await request(`${service.http}/metrics`)).text);
  const lost = sumOf(families, 'logseam_connections_lost_total', { channel: 'tcp' });
  t.ok(lost >= idle.length, `${lost} connections were lost`);
  t.match(service.output(), /the heap of an ingest worker has \d+ bytes of/);

  const stored = (await listAll(service)).map(({ event }) => event.custom['n'] as number);
  const there = new Set(stored);
  t.equal(there.size, stored.length, 'nothing is there twice');
  t.same(
    [...acknowledged].filter((n) => !there.has(n)),
    [],
    'what a close in order told is there',
  );
  t.equal(await service.stop(), 0);
});

t.test('without its only worker of a kind the service is not ready, and comes back', async (t) => {
  const { service, die } = await startMortal(t, [
    ...['--ingest-workers', '1', '--query-workers', '1', '--metrics-open', 'true'],
  ]);
  const ready = async (): Promise<string> => (await request(`${service.http}/readyz`)).text;
  t.equal(await ready(), '{"ok":true}');
  die(1);
  const seen = new Set<string>();
  while (!service.output().includes('a worker died')) await new Promise(setImmediate);
  while (!seen.has('{"ok":true}')) seen.add(await ready());
  t.ok(seen.has('{"ok":false,"reasons":["no ingest worker is up"]}'), [...seen].join(' '));
  die(2);
  while (!(await ready()).includes('no query worker')) await new Promise(setImmediate);
  const refused = await ask(service, '/beta/events/list', { time: { from: 0, to: 'now' } });
  t.equal(refused.status, 503);
  t.match(refused.text, /no query worker is there now, try again/);
  await untilReplaced(service, 'query', 1, 1);
  while ((await ready()) !== '{"ok":true}') await new Promise(setImmediate);
  const answer = await ask(service, '/beta/events/list', { time: { from: 0, to: 'now' } });
  t.equal(answer.status, 200);
  t.equal(await service.stop(), 0);
});
