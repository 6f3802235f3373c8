import t from 'tap';
import type { Enrichment } from '../../server/decode/enrichment.ts';
import { Decoding } from '../support/decoding.ts';

const QUERY: Enrichment = {
  attributes: [
    { names: ['hostname'], value: 'h"1', replaces: false },
    { names: ['appname'], value: 'é', replaces: false },
  ],
};

const header = (name: string): Enrichment => ({
  attributes: [{ names: name.split('.'), value: '1.2.3.4', replaces: true }],
});

t.test('parameters of the query are added where the event has nothing', async (t) => {
  const table: [string, string][] = [
    ['text', '{"custom":{"hostname":"h\\"1","appname":"é"},"message":"text"}'],
    ['{}', '{"custom":{"hostname":"h\\"1","appname":"é"}}'],
    ['{"a":1}', '{"custom":{"a":1,"hostname":"h\\"1","appname":"é"}}'],
    ['{"appname":"mine","a":1}', '{"custom":{"appname":"mine","a":1,"hostname":"h\\"1"}}'],
    ['{"hostname":null,"appname":{"x":1}}', '{"custom":{"hostname":null,"appname":{"x":1}}}'],
    ['{"hostname.x":1}', '{"custom":{"hostname":{"x":1},"appname":"é"}}'],
    [
      '{"a.b":1,"c":2,"a.d":3}',
      '{"custom":{"a":{"b":1,"d":3},"c":2,"hostname":"h\\"1","appname":"é"}}',
    ],
    ['{"a.b":1,"hostname":2,"a.d":3}', '{"custom":{"a":{"b":1,"d":3},"hostname":2,"appname":"é"}}'],
  ];
  const decoding = new Decoding();
  for (const [line, want] of table) t.same(decoding.lines(line, QUERY), [want], line);
  t.same(
    decoding.json('[{"a":1},"x",5]', QUERY),
    ['"a":1,', '', ''].map((first, place) => {
      const message = ['', ',"message":"x"', ',"message":"5"'][place];
      return `{"custom":{${first}"hostname":"h\\"1","appname":"é"}${message}}`;
    }),
  );
  t.same(decoding.lines('text'), ['{"custom":{},"message":"text"}'], 'only when it is given');
});

t.test("a header's value replaces what the event has at its place", async (t) => {
  const table: [string, string, string][] = [
    ['ip', '{"a":1}', '{"custom":{"a":1,"ip":"1.2.3.4"}}'],
    ['ip', '{"ip":5,"a":1}', '{"custom":{"ip":"1.2.3.4","a":1}}'],
    ['ip', '{"ip":{"x":5},"a":1}', '{"custom":{"ip":"1.2.3.4","a":1}}'],
    ['ip', 'text', '{"custom":{"ip":"1.2.3.4"},"message":"text"}'],
    ['client.ip', '{"a":1}', '{"custom":{"a":1,"client":{"ip":"1.2.3.4"}}}'],
    [
      'client.ip',
      '{"client":{"id":2},"a":1}',
      '{"custom":{"client":{"id":2,"ip":"1.2.3.4"},"a":1}}',
    ],
    ['client.ip', '{"client.ip":0,"a":1}', '{"custom":{"client":{"ip":"1.2.3.4"},"a":1}}'],
    ['client.ip', '{"client":"x"}', '{"custom":{"client":"x","client.ip":"1.2.3.4"}}'],
    [
      'client.ip',
      '{"client":"x","client.ip":1}',
      '{"custom":{"client":"x","client.ip":"1.2.3.4"}}',
    ],
    ['syslog.ip', '{"a":1}', '{"custom":{"a":1},"syslog":{"ip":"1.2.3.4"}}'],
    ['syslog.ip', '{"syslog":{"ip":1,"b":2}}', '{"custom":{},"syslog":{"ip":"1.2.3.4","b":2}}'],
    ['message', '{"a":1}', '{"custom":{"a":1},"message":"1.2.3.4"}'],
    ['message', 'text', '{"custom":{},"message":"1.2.3.4"}'],
    ['syslog', '{"a":1}', '{"custom":{"a":1,"syslog":"1.2.3.4"}}'],
  ];
  const decoding = new Decoding();
  for (const [name, line, want] of table) {
    t.same(decoding.lines(line, header(name)), [want], `${name} into ${line}`);
  }
});

t.test('two attributes of an enrichment may have one place', async (t) => {
  const both: Enrichment = { attributes: [...QUERY.attributes, ...header('hostname').attributes] };
  const decoding = new Decoding();
  t.same(decoding.lines('x', both), [
    '{"custom":{"hostname":"1.2.3.4","appname":"é"},"message":"x"}',
  ]);
});

t.test('an enrichment keeps to the limits and does not count', async (t) => {
  const decoding = new Decoding();
  const long = 'n'.repeat(257);
  t.same(decoding.lines('x', header(long)), [
    `{"custom":{"_excess":"{\\"${long}\\":\\"1.2.3.4\\"}"},"message":"x"}`,
  ]);
  const deep = Array.from({ length: 25 }, (_, part) => `n${part}`).join('.');
  t.match(decoding.lines('x', header(deep))[0], /"n19\.n20\.n21\.n22\.n23\.n24":"1\.2\.3\.4"/);
  const wide = Array.from({ length: 1100 }, (_, name) => `"k${name}":1`).join(',');
  t.match(
    decoding.lines(`{${wide}}`, header('client.ip'))[0],
    /"k999":1,"client":\{"ip":"1\.2\.3\.4"\}/,
  );
});

t.test('a cut line is enriched and marked', async (t) => {
  const decoding = new Decoding();
  decoding.decoder.begin(Buffer.from('text'), 0, header('ip'));
  decoding.decoder.line(0, 4, true);
  t.same(decoding.events(), ['{"custom":{"ip":"1.2.3.4","_truncated":true},"message":"text"}']);
});
