import t from 'tap';
import { readyText } from '../server/ready.ts';

const COLUMNS = 80;
const ROWS = 24;
/** The line that the cursor is in. */
const OTHER_ROWS = 1;

t.test('the text of the first start fits a terminal of 80 columns and 24 lines', async (t) => {
  const address = (port: number) => ({ host: '0.0.0.0', port });
  const text = readyText({
    version: '10.20.30',
    data: '/home/somebody/logseam/data',
    http: address(8_080),
    listeners: [
      { kind: 'HTTP', address: address(8_080) },
      { kind: 'HTTPS', address: address(8_443) },
      { kind: 'TCP', address: address(10_514) },
      { kind: 'TLS', address: address(10_515) },
      { kind: 'UDP', address: address(514) },
    ],
    certificate: {
      certPath: '/home/somebody/logseam/data/tls/cert.pem',
      fingerprint: Array.from({ length: 32 }, () => '84').join(':'),
    },
    provisioned: { writeKey: 'w'.repeat(22), readKey: 'r'.repeat(22) },
    events: 0,
    setupToken: 't'.repeat(22),
  });
  const rows = text.trimEnd().split('\n');
  t.same(
    rows.filter((row) => row.length > COLUMNS),
    [],
  );
  t.ok(rows.length + OTHER_ROWS <= ROWS, `${rows.length} lines`);
  t.match(text, '/v1/input/wwwwwwwwwwwwwwwwwwwwww\n');
  t.match(text, /\nready\n$/);
});
