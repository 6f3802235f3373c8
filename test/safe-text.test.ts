import t from 'tap';
import { makeKey, makeToken } from '../server/registry/digest.ts';
import { withoutKeys, withoutLongWords, withoutSteering } from '../server/safe-text.ts';

t.test('keys and tokens are taken out, names of their length are not', async (t) => {
  for (let round = 0; round < 200; round++) {
    t.equal(withoutKeys(`a ${makeKey()}/${makeToken()}.`), 'a <key>/<key>.');
  }
  for (const name of ['ERR_WORKER_INIT_FAILED', 'a_name_of_as_many_sign']) {
    t.equal(name.length, 22);
    t.equal(withoutKeys(name), name);
  }
  t.equal(withoutKeys('x'.repeat(23)), 'x'.repeat(23));
  const [known, other] = [makeKey(), makeKey()];
  t.equal(
    withoutKeys(`${known} ${other}`, (text) => text === known),
    `<key> ${other}`,
    'when it is known what keys there are',
  );
});

t.test('of a path nothing is left that holds a key', async (t) => {
  const key = makeKey();
  for (const path of [`/v1/inputs/${key}`, `/v1/input${key}`, `/${key}${key}/x`]) {
    t.notMatch(withoutLongWords(path), key.slice(0, 6));
  }
  t.equal(withoutLongWords('/beta/saved_analyses/x/execute'), '/beta/saved_analyses/x/execute');
});

t.test('what steers terminals and reorders text is escaped', async (t) => {
  const text = 'a\u202eb\u2066c\u009b\u007f\ufeff\u2028';
  const safe = withoutSteering(JSON.stringify({ text }));
  t.match(safe, /^[ -~]*$/);
  t.equal(JSON.parse(safe).text, text);
});
