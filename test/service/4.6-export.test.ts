import t from 'tap';
import {
  ask,
  type Listed,
  listAll,
  request,
  runCommand,
  send,
  testService,
} from '../support/service.ts';

const service = await testService(t, ['--seal-rows', '3000', '--seal-idle-minutes', '0']);
const START = Date.UTC(2024, 4, 1);
const TIME = { from: START, to: START + 86_400_000 };
const EVENTS = 12_000;
const MESSAGES = [
  'plain',
  '=1+2, "quoted"',
  'two\r\nlines\nor three',
  '',
  '-5 @home "',
  'Größe 12″ 😀,',
  '\ttab \\ backslash',
];

// Four events at each moment, of seven messages.
for (let from = 0; from < EVENTS; from += 4_000) {
  const rows = Array.from({ length: 4_000 }, (_, index) => {
    const n = from + index;
    const message = MESSAGES[n % MESSAGES.length];
    const value = n % 3 === 0 ? { list: [n, 'a"b'] } : n % 3 === 1 ? null : -n / 4;
    return JSON.stringify({
      timestamp: START + Math.floor(n / 4),
      n,
      team: n % 5,
      value,
      message,
    });
  });
  const sent = await send(service, rows.join('\n'), 'application/x-ndjson');
  if (sent.status !== 200) throw new Error(sent.text);
}

// The oracle: all events as list pages give them, oldest first.
const all = (await listAll(service, { time: TIME })).reverse();

function exported(body: object, key = service.readKey): Promise<Response> {
  return fetch(`${service.http}/beta/events/export`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': key },
    body: JSON.stringify({ time: TIME, ...body }),
  });
}

/** The lines of an export as NDJSON. */
async function lines(body: object, key?: string): Promise<Listed[]> {
  const response = await exported(body, key);
  const text = await response.text();
  if (response.status !== 200) throw new Error(text);
  if (text !== '' && !text.endsWith('\n')) throw new Error('the last line has no end');
  return text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line));
}

/** Reads CSV by the letter of RFC 4180. */
function parseCsv(text: string): string[][] {
  const records: string[][] = [];
  let record: string[] = [];
  for (let at = 0; at < text.length; ) {
    let cell = '';
    if (text[at] === '"') {
      for (at++; text[at] !== '"' || text[at + 1] === '"'; at++) {
        if (text[at] === undefined) throw new Error('a quote is open');
        if (text[at] === '"') at++;
        cell += text[at];
      }
      at++;
    } else {
      while (!/[,\r\n"]/.test(text[at] ?? ',')) cell += text[at++];
    }
    record.push(cell);
    if (text[at] === ',') {
      at++;
    } else if (text.startsWith('\r\n', at)) {
      at += 2;
      records.push(record);
      record = [];
    } else {
      throw new Error(`at ${at}: neither a comma nor the end of a line`);
    }
  }
  if (record.length > 0) throw new Error('the last line has no end');
  return records;
}

async function readKey(name: string, filter: string): Promise<string> {
  const args = ['--read', '--name', name, '--filter', filter, '--data', service.folder];
  const { code, stdout, stderr } = await runCommand(['key', 'create', ...args]);
  if (code !== 0) throw new Error(stderr);
  return stdout.trimEnd();
}

t.test('4.6 export: NDJSON has all events as list pages give them, in both orders', async (t) => {
  t.equal(all.length, EVENTS);
  t.equal(JSON.stringify(await lines({ order: 'asc' })), JSON.stringify(all));
  t.equal(JSON.stringify(await lines({})), JSON.stringify(all.toReversed()));
  const response = await exported({ limit: 1 });
  await response.body?.cancel();
  t.equal(response.headers.get('content-type'), 'application/x-ndjson');
  t.equal(
    response.headers.get('content-disposition'),
    'attachment; filename="events_2024-05-01T00-00-00-000Z_2024-05-02T00-00-00-000Z.ndjson"',
  );
});

t.test('4.6 export: filters, columns, zone, limit and afterEvent are those of lists', async (t) => {
  const query = {
    time: { ...TIME, timezone: 'Asia/Tokyo' },
    filters: [{ field: { id: 'custom.team', values: ['3'] } }, { search: 'plain' }],
    columns: [{ attribute: 'custom.n' }, { attribute: 'custom.value' }, { metric: 'count' }],
  };
  const listed = await listAll(service, { ...query, event: false });
  t.equal(listed.length, all.filter(({ event }) => Number(event.custom['n']) % 35 === 28).length);
  t.equal(JSON.stringify(await lines(query)), JSON.stringify(listed));
  t.same(await lines({ ...query, limit: 3 }), listed.slice(0, 3));
  t.same(await lines({ ...query, limit: 100, afterEvent: listed[9].id }), listed.slice(10, 110));
  t.same(await lines({ filters: [{ search: 'nowhere:*' }] }), []);
  const limited = await lines({ limit: 4_321, columns: [{ attribute: 'custom.n' }] });
  t.equal(limited.length, 4_321);
});

t.test('4.6 export: CSV comes back as the values that were sent', async (t) => {
  const columns = [
    { attribute: 'custom.n' },
    { attribute: 'message' },
    { attribute: 'custom.value' },
  ];
  const response = await exported({ format: 'csv', columns, order: 'asc' });
  t.equal(response.headers.get('content-type'), 'text/csv; charset=utf-8');
  const [header, ...records] = parseCsv(await response.text());
  t.same(header, ['id', 'date', 'custom.n', 'message', 'custom.value']);
  const wanted = all.map(({ id, date, event: { custom, message } }) => {
    const value = custom['value'] === null ? '' : JSON.stringify(custom['value']);
    return [id, date, String(custom['n']), message, value];
  });
  t.equal(JSON.stringify(records), JSON.stringify(wanted));
  const plain = parseCsv(await (await exported({ format: 'csv', limit: 1 })).text());
  t.same(plain[0], ['id', 'date', 'message']);
});

t.test('4.6 export: safe CSV has no cell that a spreadsheet computes', async (t) => {
  const columns = [{ attribute: 'message' }, { attribute: 'custom.value' }];
  const body = { format: 'csv', columns, order: 'asc', limit: 7, safe: true };
  const [, ...records] = parseCsv(await (await exported(body)).text());
  t.same(
    records.map((record) => record[2]),
    MESSAGES.map((message) => (/^[=\-\t]/.test(message) ? `'${message}` : message)),
  );
  t.equal(records[5][3], '-1.25', 'numbers stay');
});

t.test('4.6 export: what is wrong is said before anything is sent', async (t) => {
  const table: [object, number, RegExp][] = [
    [{ limit: 0 }, 400, /limit 0.*1 or greater/],
    [{ format: 'xml' }, 400, /format "xml".*"ndjson" or "csv"/],
    [{ safe: true }, 400, /safe true.*csv/],
    [{ afterEvent: 'x' }, 400, /afterEvent "x" is malformed/],
    [{ event: true }, 400, /event is unknown/],
    [{ filters: [{ search: '(a' }] }, 400, /position/],
  ];
  for (const [body, status, message] of table) {
    const answer = await ask(service, '/beta/events/export', { time: TIME, ...body });
    t.equal(answer.status, status);
    t.match((answer.body as { error: { message: string } }).error.message, message);
  }
  t.equal((await exported({}, 'no-such-key')).status, 401);
});

t.test('4.6 export and context: a security filter holds for both', async (t) => {
  for (const team of ['1', '2']) {
    const key = await readKey(`team ${team}`, `team:${team}`);
    const own = all.filter(({ event }) => String(event.custom['team']) === team);
    t.equal(JSON.stringify(await lines({ order: 'asc' }, key)), JSON.stringify(own));
    const context = async (id: string) =>
      request(`${service.http}/beta/events/context`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-api-key': key },
        body: JSON.stringify({ id, before: 2, after: 2, event: true }),
      });
    t.same((await context(own[100].id)).body, {
      result: { before: own.slice(98, 100), event: own[100], after: own.slice(101, 103) },
    });
    const hidden = all.find(({ event }) => event.custom['team'] === 4)?.id ?? '';
    const refused = await context(hidden);
    t.equal(refused.status, 404);
    t.equal(refused.text.replace(hidden, 'x'), (await context('x')).text);
  }
});

t.test('4.6 context: the events around one, under filters that it need not match', async (t) => {
  const query = { id: all[6_001].id, before: 500, after: 500, event: true };
  const answer = await ask(service, '/beta/events/context', query);
  const wanted = {
    before: all.slice(5_501, 6_001),
    event: all[6_001],
    after: all.slice(6_002, 6_502),
  };
  t.equal(answer.text, JSON.stringify({ result: wanted }));
  const plain = all.filter(({ event }) => event.message === 'plain');
  const place = plain.findIndex(({ event }) => Number(event.custom['n']) > 6_001);
  const columns = [{ attribute: 'message' }];
  const filters = [{ search: 'plain' }];
  const few = await ask(service, '/beta/events/context', {
    id: all[6_001].id,
    filters,
    columns,
    timezone: 'UTC+2',
  });
  const { result } = few.body as {
    result: Record<'before' | 'after', Listed[]> & { event: Listed };
  };
  const idsOf = (events: Listed[]): string[] => events.map(({ id }) => id);
  t.same(idsOf(result.before), idsOf(plain.slice(place - 10, place)));
  t.same(idsOf(result.after), idsOf(plain.slice(place, place + 10)));
  t.same(result.event, {
    id: all[6_001].id,
    date: '2024-05-01T02:00:01.500+02:00',
    columns: [MESSAGES[6_001 % 7]],
  });
  const first = await ask(service, '/beta/events/context', { id: all[0].id, after: 0 });
  t.same((first.body as { result: object }).result, {
    before: [],
    event: { id: all[0].id, date: all[0].date },
    after: [],
  });
  for (const [body, message] of [
    [{}, /id is missing/],
    [{ id: 'x', before: 501 }, /before 501.*0 to 500/],
    [{ id: 'x', timezone: 'Mars' }, /^timezone "Mars" is unknown/],
  ] as const) {
    const refused = await ask(service, '/beta/events/context', body);
    t.equal(refused.status, 400);
    t.match((refused.body as { error: { message: string } }).error.message, message);
  }
});

t.test('4.6 export: nothing is twice or missing while events arrive and are sealed', async (t) => {
  const [late, response] = [[] as Promise<unknown>[], await exported({})];
  let text = '';
  let chunks = 0;
  const decoder = new TextDecoder();
  const reader = response.body?.getReader();
  for (let read = await reader?.read(); read?.value !== undefined; read = await reader?.read()) {
    text += decoder.decode(read.value, { stream: true });
    if (++chunks % 8 !== 1) continue;
    // Across the whole range: some come behind what was exported, some before it.
    const rows = Array.from({ length: 500 }, (_, index) =>
      JSON.stringify({ timestamp: START + index * 10, late: chunks }),
    );
    late.push(send(service, rows.join('\n'), 'application/x-ndjson'));
  }
  await Promise.all(late);
  const found: Listed[] = text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line));
  t.equal(new Set(found.map(({ id }) => id)).size, found.length);
  const old = found.filter(({ event }) => event.custom['late'] === undefined);
  t.equal(JSON.stringify(old), JSON.stringify(all.toReversed()));
  const times = found.map(({ date }) => Date.parse(date));
  t.ok(
    times.every((ms, at) => at === 0 || ms <= times[at - 1]),
    'the order is kept',
  );
});
