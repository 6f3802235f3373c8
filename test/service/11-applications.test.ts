import { readFileSync } from 'node:fs';
import t from 'tap';
import { adminToken } from '../support/admin.ts';
import { type Answer, request, testService } from '../support/service.ts';

/** Lines of programs, each with the message, the date and the severity that ready-made extensions give it. */
interface Entry {
  program: string;
  line: string;
  message: string;
  date?: string;
  severity?: number;
}

const FIXTURE = new URL('../fixture/extend/applications.jsonl', import.meta.url);
const ENTRIES: Entry[] = readFileSync(FIXTURE, 'utf8')
  .trimEnd()
  .split('\n')
  .map((line) => JSON.parse(line));
const EXTENSIONS = [
  ...['docker', 'docker_date', 'python', 'embedded_json'],
  ...['message_from', 'date_from', 'severity'],
];

const service = await testService(t);
function admin(method: string, path: string, body: object): Promise<Answer> {
  return request(`${service.http}/admin/api/${path}`, {
    method,
    headers: {
      authorization: `Bearer ${adminToken(service)}`,
      'content-type': 'application/json',
    },
    body: JSON.stringify(body),
  });
}

interface Tried {
  event: { message?: string; custom: object; syslog?: { severity?: number } };
  date?: string;
}

t.test('11 ready-made extensions together read what applications write', async (t) => {
  for (const id of EXTENSIONS) {
    t.equal((await admin('PATCH', `extensions/${id}`, { enabled: true })).status, 200, id);
  }
  const samples = ENTRIES.map(({ line }) => line);
  const { body } = await admin('POST', 'extensions/test', { all: true, samples });
  const { events } = (body as { result: { events: Tried[] } }).result;
  for (const [place, { program, message, date, severity }] of ENTRIES.entries()) {
    const tried = events[place];
    t.equal(tried?.event.message, message, `message of ${program}`);
    if (date !== undefined) t.equal(tried?.date, date, `date of ${program}`);
    t.equal(tried?.event.syslog?.severity, severity, `severity of ${program}`);
  }
});

t.test('11 a message and a date that an event has stay', async (t) => {
  const event = { message: 'own', msg: 'other', timestamp: '2026-01-01', time: '2027-01-01' };
  const { body } = await admin('POST', 'extensions/test', {
    ...{ all: true, samples: [JSON.stringify(event)] },
  });
  t.match((body as { result: { events: Tried[] } }).result.events[0], {
    event: { message: 'own', custom: { msg: 'other' } },
    date: '2026-01-01T00:00:00.000Z',
  });
});
