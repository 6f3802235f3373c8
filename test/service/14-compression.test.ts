import t from 'tap';
import { type Answer, request, send, testService } from '../support/service.ts';

const service = await testService(t);
const TIME = { from: '2024-05-01', to: '2024-05-02' };
const EVENTS = Array.from({ length: 500 }, (_, n) => ({
  date: '2024-05-01T12:00:00Z',
  message: `event ${n} of many, é ${'x'.repeat(n)}`,
}));
await send(service, JSON.stringify(EVENTS));

function ask(path: string, body: object, encodings: string): Promise<Answer> {
  return request(`${service.http}${path}`, {
    method: 'POST',
    headers: {
      ...{ 'content-type': 'application/json', 'accept-encoding': encodings },
      'x-api-key': service.readKey,
    },
    body: JSON.stringify({ time: TIME, ...body }),
  });
}

const LIST = '/beta/events/list';
const LARGE = { event: true, limit: 1000 };

t.test('a large answer is gzip for who takes it, and the same text', async (t) => {
  const plain = await ask(LIST, LARGE, 'identity');
  t.equal(plain.headers.get('content-encoding'), null);
  t.equal(plain.headers.get('vary'), 'Accept-Encoding');
  for (const encodings of ['gzip', 'br, GZIP;q=0.5', 'deflate,x-gzip']) {
    const packed = await ask(LIST, LARGE, encodings);
    t.equal(packed.headers.get('content-encoding'), 'gzip', encodings);
    t.ok(Number(packed.headers.get('content-length')) < plain.text.length / 3);
    t.equal(packed.text, plain.text);
  }
  for (const encodings of ['', 'br', 'gzip;q=0', 'gzip; q=0.000']) {
    const same = await ask(LIST, LARGE, encodings);
    t.equal(same.headers.get('content-encoding'), null, encodings);
    t.equal(same.text, plain.text);
  }
});

t.test('small answers, refusals and exports are not compressed', async (t) => {
  const small = await ask(LIST, { limit: 2 }, 'gzip');
  t.equal(small.headers.get('content-encoding'), null);
  t.match(small.body, { result: { events: [{}, {}] } });
  const refused = await ask(LIST, { limit: 0, orderBy: 'x'.repeat(5_000) }, 'gzip');
  t.equal(refused.status, 400);
  t.equal(refused.headers.get('content-encoding'), null);
  const whole = await ask('/beta/events/export', {}, 'gzip');
  t.equal(whole.headers.get('content-encoding'), null);
  t.equal(whole.text.trim().split('\n').length, EVENTS.length);
});
