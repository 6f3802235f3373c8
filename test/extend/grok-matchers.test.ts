import t from 'tap';
import { GrokExtractor } from '../../server/extend/grok.ts';
import { attributesText } from '../support/attributes-text.ts';

const NOW_MS = Date.UTC(2016, 10, 21);

/** Findings of a rule of one matcher or filter in a text. */
function found(reference: string, text: string): string {
  const extractor = new GrokExtractor(`rule ${reference}`, '', () => NOW_MS);
  return attributesText(extractor.extract(text)?.attributes);
}

t.test(
  'each matcher matches whole texts of its kind, and numbers and dates are values',
  async (t) => {
    const table: [string, string, string][] = [
      ['data', '', '""'],
      ['data', 'a\nb "c"', '"a\\nb \\"c\\""'],
      ['word', 'user_1', '"user_1"'],
      ['word', 'user-1', 'none'],
      ['notSpace', 'a-b/c', '"a-b/c"'],
      ['notSpace', 'a b', 'none'],
      ['number', '12.50', '12.50'],
      ['number', '-0', '-0'],
      ['number', '+5', '5'],
      ['number', '007', '7'],
      ['number', '.5', '0.5'],
      ['number', '5.', '5'],
      ['number', '1e3', 'none'],
      ['number', '12345678901234567890', '12345678901234567890'],
      ['numberExt', '1.5e-3', '1.5e-3'],
      ['numberExt', '-1E+3', '-1E+3'],
      ['numberStr', '12.50', '"12.50"'],
      ['numberExtStr', '1e3', '"1e3"'],
      ['integer', '-42', '-42'],
      ['integer', '4.2', 'none'],
      ['integerExt', '4e2', '4e2'],
      ['integerStr', '042', '"042"'],
      ['integerExtStr', '4e2', '"4e2"'],
      ['boolean', 'TRUE', 'true'],
      ['boolean', 'False', 'false'],
      ['boolean', 'yes', 'none'],
      ['boolean("yes|ja","no|nein")', 'ja', 'true'],
      ['boolean("yes|ja","no|nein")', 'nein', 'false'],
      ['date("MM/dd/yyyy")', '11/08/2017', '1510099200000'],
      ['date("dd/MMM/yyyy:HH:mm:ss Z")', '06/Mar/2013:01:36:30 +0900', '1362501390000'],
      ['date("yyyy-MM-dd HH:mm","Europe/Paris")', '2016-07-01 12:00', '1467367200000'],
      ['date("MM/dd/yyyy", "UTC", "en")', '13/08/2017', '"13/08/2017"'],
      ['date("MMM dd HH:mm:ss")', 'Dec 31 23:59:59', '1483228799000'],
      ['ipv4', '10.0.255.1', '"10.0.255.1"'],
      ['ipv4', '10.0.256.1', 'none'],
      ['ipv4', '10.0.1', 'none'],
      ['ipv6', '2001:db8::1', '"2001:db8::1"'],
      ['ipv6', '::', '"::"'],
      ['ipv6', '::1', '"::1"'],
      ['ipv6', 'fe80::1%eth0', '"fe80::1%eth0"'],
      ['ipv6', '1:2:3:4:5:6:7:8', '"1:2:3:4:5:6:7:8"'],
      ['ipv6', '::ffff:10.0.0.1', '"::ffff:10.0.0.1"'],
      ['ipv6', '1:2:3:4:5:6:7', 'none'],
      ['ipv6', '1::2::3', 'none'],
      ['ipv6', '10.0.0.1', 'none'],
      ['ip', '10.0.0.1', '"10.0.0.1"'],
      ['ip', '2001:db8::1', '"2001:db8::1"'],
      ['ip', 'cafe', 'none'],
      ['hostname', 'web-1.example.com', '"web-1.example.com"'],
      ['hostname', '-web', 'none'],
      ['ipOrHost', 'web-1', '"web-1"'],
      ['ipOrHost', '10.0.0.1', '"10.0.0.1"'],
      ['ipOrHost', '::1', '"::1"'],
      ['ipOrHost', 'web:80', 'none'],
      ['port', '8080', '8080'],
      ['port', '123456', 'none'],
      ['mac', '00:1B:44:11:3A:B7', '"00:1B:44:11:3A:B7"'],
      ['mac', '00-1b-44-11-3a-b7', '"00-1b-44-11-3a-b7"'],
      ['mac', '001b.4411.3ab7', '"001b.4411.3ab7"'],
      ['mac', '00:1B:44:11:3A', 'none'],
      ['uuid', '123e4567-e89b-12d3-a456-426614174000', '"123e4567-e89b-12d3-a456-426614174000"'],
      ['uuid', '123e4567e89b12d3a456426614174000', 'none'],
      ['quotedString', '"a \\" b"', '"a \\\\\\" b"'],
      ['quotedString', "'a b'", '"a b"'],
      ['quotedString', '"a\'', 'none'],
      ['doubleQuotedString', '"a b"', '"a b"'],
      ['doubleQuotedString', "'a b'", 'none'],
      ['singleQuotedString', "'a b'", '"a b"'],
      ['regex("[a-c]+\\\\d")', 'abc\\d', '"abc\\\\d"'],
      ['regex("[a-c]+\\d")', 'abc7', '"abc7"'],
      ["regex('\"[a-c]+')", '"abc', '"\\"abc"'],
      ['regex("a\\"b|c")', 'a"b', '"a\\"b"'],
    ];
    for (const [matcher, text, value] of table) {
      const expected = value === 'none' ? 'none' : `{"x":${value}}`;
      t.equal(found(`%{${matcher}:x}`, text), expected, `${matcher}: ${text}`);
    }
  },
);

t.test('each filter makes values, and leaves a text that it cannot read', async (t) => {
  const table: [string, string, string][] = [
    ['number', '12.50', '12.50'],
    ['number', '1e3', '1e3'],
    ['number', 'twelve', '"twelve"'],
    ['integer', '-12', '-12'],
    ['integer', '1.5', '"1.5"'],
    ['boolean', 'True', 'true'],
    ['boolean', 'maybe', '"maybe"'],
    ['json', '{"a":{"b":0.610}}', '{"a":{"b":0.610}}'],
    ['json', 'no json', '"no json"'],
    ['keyvalue', 'user=john id=123', '{"user":"john","id":123}'],
    ['keyvalue(": ")', 'user: john id: 123', '{"user":"john","id":123}'],
    ['keyvalue(":","","","|")', 'a:1 2|b:x y', '{"a":"1 2","b":"x y"}'],
    ['keyvalue("=","/:")', 'url=http://x.y/z?q n=1', '{"url":"http://x.y/z","n":1}'],
    ['keyvalue("=","","{}")', 'a={x y} b="c d"', '{"a":"x y","b":"\\"c"}'],
    ['keyvalue("=>")', '"a"=>"b c", "d"=>nil', '{"a":"b c","d":"nil"}'],
    [
      'keyvalue("=","")',
      'k=\'v w\' l=<m n> e= n=null z="null"',
      '{"k":"v w","l":"m n","z":"null"}',
    ],
    ['keyvalue("\\t")', 'a\t1,b\t2', '{"a":1,"b":2}'],
    ['lowercase', 'ABC é', '"abc é"'],
    ['uppercase', 'abc é', '"ABC É"'],
    ['scale(1000)', '0.003', '3'],
    ['scale(0.001)', '1234', '1.234'],
    ['scale(2)', 'x', '"x"'],
    ['nullIf("-")', '-', 'absent'],
    ['nullIf("-")', 'a', '"a"'],
    ['querystring', '?a=1&b=x%20y', '{"a":"1","b":"x y"}'],
    [
      'url',
      'http://example.com:8080/a?b=c',
      '{"scheme":"http","host":"example.com","port":8080,"path":"/a","queryString":{"b":"c"}}',
    ],
    ['date("yyyy-MM-dd")', '2016-11-21', '1479686400000'],
    ['date("yyyy-MM-dd")', 'yesterday', '"yesterday"'],
    ['array', '[a, b,c]', '["a","b","c"]'],
    ['array()', '[]', '[]'],
    ['array(";")', 'a; b', '["a","b"]'],
    ['array("{}","-")', '{a-b}', '["a","b"]'],
    ['array("<<>>","|")', '<<a|b>>', '["a","b"]'],
    ['array("[]",",",number)', '[1, 2.50, x]', '[1,2.50,"x"]'],
    ['array(",",scale(2))', '1,2', '[2,4]'],
    ['array("[]",",",nullIf("-"))', '[1,-,2]', '["1","2"]'],
    ['array("[]")', 'a[]b', '["a","b"]'],
    ['array("[]",",")', 'a,b', '"a,b"'],
    ['decodeuricomponent', 'a%20b%C3%A9', '"a bé"'],
    ['decodeuricomponent', '%zz', '"%zz"'],
    [
      'csv("first,name,nb")',
      'John,"Doe, ""J""",12',
      '{"first":"John","name":"Doe, \\"J\\"","nb":"12"}',
    ],
    ['csv("a, b","\\t")', '1\t2\t3', '{"a":"1","b":"2"}'],
    ['csv("a,b,c")', '1,,3', '{"a":"1","c":"3"}'],
  ];
  for (const [filter, text, value] of table) {
    const expected = value === 'absent' ? '{}' : `{"x":${value}}`;
    t.equal(found(`%{data:x:${filter}}`, text), expected, `${filter}: ${text}`);
  }
  const agent = 'Mozilla/5.0 (X11; Linux x86_64; rv:50.0) Gecko/20100101 Firefox/50.0';
  t.match(found('%{data:x:useragent}', agent), /"browser.family":"Firefox"/);
});

t.test('a filter works on what its matcher made of the text', async (t) => {
  t.equal(found('%{quotedString:x:lowercase}', '"ABC"'), '{"x":"abc"}');
  t.equal(found('%{number:x:nullIf("0")}', '0'), '{}');
  t.equal(found('%{number:x:nullIf("0")}', '1.50'), '{"x":1.50}');
  t.equal(found('%{number:x:scale(1000)}', '1.5'), '{"x":1500}');
});

t.test('attributes of a filter without a name stand alone', async (t) => {
  t.equal(found('%{word:who} %{data::keyvalue}', 'john a=1 b=2'), '{"who":"john","a":1,"b":2}');
  t.equal(found('%{data::json}', '{"a":1}'), '{"a":1}');
  t.equal(found('%{data::json}', 'none'), '{}');
});
