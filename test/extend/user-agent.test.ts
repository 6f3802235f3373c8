import fc from 'fast-check';
import t from 'tap';
import type { AgentParser } from '../../server/extend/user-agent.ts';
import {
  AGENT_LENGTH_MAX,
  AGENTS_MAX,
  UserAgentExtractor,
} from '../../server/extend/user-agent.ts';
import { attributesText } from '../support/attributes-text.ts';

const NAMES = [
  'browser.family',
  'browser.version',
  'os.family',
  'os.version',
  'device.family',
  'device.category',
];
const extractor = new UserAgentExtractor();

/** Values in the order of NAMES, `-` where there is none. */
function valuesOf(agent: string): string {
  const attributes = extractor.extract(agent)?.attributes;
  if (attributes === undefined) return 'none';
  return NAMES.map((name) => attributes.get(name) ?? '-').join(' | ');
}

t.test('agents are told by browser, system and device', async (t) => {
  for (const [agent, expected] of [
    [
      'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/120.0.0.0 Safari/537.36',
      'Chrome | 120.0.0.0 | Windows | 10 | - | desktop',
    ],
    [
      'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/120.0.0.0 Safari/537.36 Edg/120.0.2210.91',
      'Microsoft Edge | 120.0.2210.91 | Windows | 10 | - | desktop',
    ],
    [
      'Mozilla/5.0 (X11; Linux x86_64; rv:109.0) Gecko/20100101 Firefox/115.0',
      'Firefox | 115.0 | Linux | - | - | desktop',
    ],
    [
      'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.1 Safari/605.1.15',
      'Safari | 17.1 | macOS | 10.15.7 | Apple | desktop',
    ],
    [
      'Mozilla/5.0 (iPhone; CPU iPhone OS 17_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.1 Mobile/15E148 Safari/604.1',
      'Safari | 17.1 | iOS | 17.1 | iPhone | mobile',
    ],
    [
      'Mozilla/5.0 (iPad; CPU OS 16_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/16.6 Mobile/15E148 Safari/604.1',
      'Safari | 16.6 | iOS | 16.6 | iPad | tablet',
    ],
    [
      'Mozilla/5.0 (Linux; Android 13; Pixel 7) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/119.0.0.0 Mobile Safari/537.36',
      'Chrome | 119.0.0.0 | Android | 13 | - | mobile',
    ],
    [
      'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)',
      'Googlebot | 2.1 | - | - | Google | bot',
    ],
    [
      'Mozilla/5.0 (compatible; AhrefsBot/7.0; +http://ahrefs.com/robot/)',
      'AhrefsBot | 7.0 | - | - | - | bot',
    ],
    [
      'Mozilla/5.0 (compatible; UptimeRobot/2.0; http://www.uptimerobot.com/)',
      'UptimeRobot | 2.0 | - | - | - | bot',
    ],
    ['curl/7.64.1', 'curl | 7.64.1 | - | - | - | -'],
    ['python-requests/2.31.0', 'python-requests | 2.31.0 | - | - | - | -'],
    ['kube-probe/1.27', 'kube-probe | 1.27 | - | - | - | -'],
    ['Go-http-client/1.1', 'Go-http-client | 1.1 | - | - | - | -'],
    ['Wget', 'Wget | - | - | - | - | -'],
    ['-', 'none'],
    ['', 'none'],
    ['   ', 'none'],
    ['() { :; }; /bin/bash', 'none'],
  ] as const) {
    t.equal(valuesOf(agent), expected, agent);
    t.equal(valuesOf(agent), expected, 'the second time too');
  }
});

t.test('an agent is read once, and no more of it than the cap', async (t) => {
  const lengths: number[] = [];
  const counting: AgentParser = (agent) => {
    lengths.push(agent.length);
    return { browser: {}, os: {}, platform: {}, engine: {} };
  };
  const counted = new UserAgentExtractor(counting);
  for (const piece of [
    'version/1',
    'os 1_1',
    'Macintosh FxiOS',
    'a/',
    '(',
    'nexus  ',
    '1.',
    '\ud83d\ude00',
  ])
    counted.extract(piece.repeat(100_000 / piece.length));
  t.same(lengths.length, 8);
  t.ok(lengths.every((length) => length <= AGENT_LENGTH_MAX));

  counted.extract('one');
  counted.extract('one');
  t.equal(lengths.length, 9, 'the second one was known');
  counted.extract(`${'x'.repeat(AGENT_LENGTH_MAX)}a`);
  counted.extract(`${'x'.repeat(AGENT_LENGTH_MAX)}b`);
  t.equal(lengths.length, 10, 'what is cut off does not count');
  for (let place = 0; place < AGENTS_MAX; place++) counted.extract(`agent ${place}`);
  counted.extract('one');
  t.equal(lengths.length, 10 + AGENTS_MAX + 1, 'the oldest ones are forgotten');
});

t.test('what is given is the caller’s', async (t) => {
  const own = extractor.extract('curl/7.64.1');
  own?.attributes.set('browser.family', 'changed');
  t.equal(valuesOf('curl/7.64.1'), 'curl | 7.64.1 | - | - | - | -');
});

t.test('any text is read or refused, and gives strings that are well formed', async () => {
  const piece = fc.constantFrom(
    'Mozilla/5.0',
    ' (',
    'Macintosh',
    'Windows NT',
    ' FxiOS',
    '/',
    ';',
    ')',
    'Android ',
    'like Mac OS X',
    '10_1',
    'bot/',
    'compatible; ',
    ' 1.2',
    'Version/',
    '\ud83d\ude00',
    '\n',
  );
  const text = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.array(piece, { maxLength: 30 }).map((pieces) => pieces.join('')),
  );
  fc.assert(
    fc.property(text, (any) => attributesText(extractor.extract(any)?.attributes).isWellFormed()),
    { numRuns: 3000 },
  );
});
