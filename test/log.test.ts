import t from 'tap';
import { EngineError } from '../engine/base/errors.ts';
import { logLine, openLog } from '../server/log.ts';
import { makeKey } from '../server/registry/digest.ts';

t.test('a line is one JSON object with time, level, message and fields', async (t) => {
  const line = logLine('info', 'listener opened', { port: 8080, host: '::' }, 0);
  t.equal(
    line,
    '{"time":"1970-01-01T00:00:00.000Z","level":"info","message":"listener opened","port":8080,"host":"::"}\n',
  );
});

t.test('levels that are louder than the chosen one are not written', async (t) => {
  for (const [level, expected] of [
    ['error', ['error']],
    ['info', ['error', 'info']],
    ['debug', ['error', 'info', 'debug']],
  ] as const) {
    const lines: string[] = [];
    const log = openLog(level, (line) => lines.push(line));
    log.error('e');
    log.info('i');
    log.debug('d', { n: 1 });
    t.same(
      lines.map((line) => JSON.parse(line).level),
      expected,
    );
  }
});

t.test('control and steering characters do not reach the terminal', async (t) => {
  const text = 'a\u001b[2Jb\r\nc\u007fd\u009b1me\u202ef\u2028g\u2066h\ufeff\u0000';
  const line = logLine('error', 'bad line', { text }, 0);
  t.match(line, /^[ -~]*\n$/);
  t.equal(JSON.parse(line).text, text);
});

t.test('keys are taken out wherever they stand', async (t) => {
  for (let round = 0; round < 50; round++) {
    const key = makeKey();
    const line = logLine(
      'error',
      'refused',
      { path: `/v1/input/${key}/`, nested: { query: `?api_key=${key}&x=1` }, list: [key] },
      0,
    );
    t.notOk(line.includes(key), key);
    t.equal(JSON.parse(line).path, '/v1/input/<key>/');
  }
});

t.test('errors are written with message, code and cause, without their stack', async (t) => {
  const cause = Object.assign(new Error('no space'), { code: 'ENOSPC' });
  const error = new EngineError('IO', 'write failed', { cause });
  const line = logLine('error', 'commit failed', { error, count: 2n, map: new Map([['a', 1]]) }, 0);
  t.match(JSON.parse(line), {
    error: { message: 'write failed', code: 'IO', cause: { message: 'no space', code: 'ENOSPC' } },
    count: '2',
    map: { a: 1 },
  });
  t.notMatch(line, 'log.test.ts');
});
