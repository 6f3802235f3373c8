import fc from 'fast-check';
import t from 'tap';
import { severityOf } from '../../server/extend/severity.ts';

t.test('names and digits mean levels', async (t) => {
  const names: [number, string[]][] = [
    [0, ['emerg', 'EMERGENCY', 'fatal', 'F', 'FATAL', 'panic', '0', '60']],
    [1, ['alert', 'A', '1']],
    [2, ['crit', 'Critical', 'c', '2']],
    [3, ['err', 'error', 'ERROR', 'ERROR+2', '3', '50']],
    [4, ['warn', 'WARNING', 'w', '4', '40']],
    [5, ['notice', 'n', '5']],
    [
      6,
      [
        'info',
        'Information',
        'i',
        '6',
        'e',
        'ok',
        'severe',
        '8',
        '30',
        '42',
        '70',
        '-1',
        '3.0',
        'é',
      ],
    ],
    [7, ['debug', 'd', 'DBG', 'trace', 'Verbose', 'silly', '7', '10', '20']],
  ];
  for (const [level, texts] of names)
    for (const text of texts) t.equal(severityOf(text), level, text);
  t.equal(severityOf(' warn\n'), 4, 'blanks around do not matter');
  t.equal(severityOf(''), undefined);
  t.equal(severityOf(' \t'), undefined);
});

t.test('any text means a level or nothing', async () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      const level = severityOf(text);
      return level === undefined ? text.trim() === '' : level >= 0 && level <= 7;
    }),
  );
});
