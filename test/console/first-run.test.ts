import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import t from 'tap';
import { openViewer, PASSWORD } from '../support/browser.ts';
import { request, testService } from '../support/service.ts';

const service = await testService(t);
const viewer = await openViewer();
t.teardown(async () => {
  await viewer.close();
});

const token = readFileSync(join(service.folder, 'setup-token'), 'utf8').trim();
const LINE =
  '203.0.113.7 - ann [23/Nov/2026:10:00:00 +0000] "GET /cart?id=7 HTTP/1.1" 200 512 "-" "curl/8.5.0"';

/** Compressed scripts that are loaded before one can explore. */
const EXPLORE_BYTES_MAX = 60_000;
/** Compressed scripts of all screens. */
const ALL_BYTES_MAX = 110_000;
/** Scripts that a script needs, and the plot, which exploring begins to load at once. */
const IMPORTS = /(?:from|import)"\.\/([^"]+)"|import\("\.\/(plot-[^"]+)"\)/g;

/** Scripts that a script may ever load. */
const ALL_IMPORTS = /(?:from|import|import\()"\.\/([^"]+)"/g;

/** Bytes of a script and of all that it imports, compressed. */
async function bytesOfScript(
  path: string,
  imports = IMPORTS,
  seen = new Set<string>(),
): Promise<number> {
  if (seen.has(path)) return 0;
  seen.add(path);
  const { text } = await request(service.http + path);
  let bytes = gzipSync(text, { level: 9 }).length;
  for (const [, name, plot] of text.matchAll(imports)) {
    bytes += await bytesOfScript(`/assets/${name ?? plot}`, imports, seen);
  }
  return bytes;
}

t.test(
  '15 the page has a policy that runs nothing of others, and its files are compressed',
  async (t) => {
    const page = await request(`${service.http}/`);
    t.equal(page.status, 200);
    t.match(
      page.headers.get('content-security-policy'),
      /default-src 'none'; script-src 'self'; style-src 'self'/,
    );
    t.notMatch(page.headers.get('content-security-policy'), /unsafe/);
    t.equal(page.headers.get('cache-control'), 'no-cache');
    t.equal(page.headers.get('access-control-allow-origin'), null);
    const script = /src="(\/assets\/main-[^"]+)"/.exec(page.text)?.[1] ?? '';
    for (const coding of ['br', 'gzip']) {
      const file = await request(service.http + script, { headers: { 'accept-encoding': coding } });
      t.equal(file.headers.get('content-encoding'), coding);
      t.match(file.headers.get('cache-control'), /immutable/);
    }
    const bytes = await bytesOfScript(script);
    t.ok(bytes <= EXPLORE_BYTES_MAX, `${bytes} bytes before one can explore`);
    const all = await bytesOfScript(script, ALL_IMPORTS);
    t.ok(all <= ALL_BYTES_MAX, `${all} bytes of scripts together`);
    const { etag = '' } = Object.fromEntries(page.headers);
    const again = await request(`${service.http}/keys`, { headers: { 'if-none-match': etag } });
    t.equal(again.status, 304, 'all screens are one page');
    t.equal((await request(`${service.http}/assets/nothing.js`)).status, 404);
    t.equal((await request(`${service.http}/`, { method: 'POST' })).status, 405);
  },
);

t.test('15 from the set-up link to the first event that is found', async (t) => {
  const page = await viewer.page();
  await page.goto(`${service.http}/`);
  await page.getByRole('heading', { name: 'Logseam' }).waitFor();
  await page.goto(`${service.http}/setup#${token}`);
  await page.getByLabel('Password').fill('short');
  await page.getByRole('button', { name: 'Begin' }).click();
  await page.getByText(/^password .*12/).waitFor();
  t.equal(await page.getByLabel('Password').inputValue(), 'short', 'what was typed stays');
  await page.getByLabel('Password').fill(PASSWORD);
  await page.getByRole('button', { name: 'Begin' }).click();
  await page.getByText('Waiting for your first event').waitFor();
  await page.getByRole('button', { name: 'Make a write key' }).click();
  const key = await page.locator('.secret code').innerText();
  t.match(key, /^[\w-]{22}$/);
  for (const name of ['rsyslog', 'Vector', 'Node.js pino', 'curl']) {
    await page.getByRole('button', { name, exact: true }).click();
    t.match(await page.locator('.snippet pre').innerText(), key, `${name} has the key`);
  }
  const sent = await request(`${service.http}/v1/input/${key}`, {
    method: 'POST',
    headers: { 'content-type': 'text/plain' },
    body: `${LINE}\n`.repeat(3),
  });
  t.equal(sent.status, 200);
  await page.getByText('Events are coming in').waitFor();

  await page.getByText('Access log', { exact: true }).waitFor();
  t.match(
    await page.getByLabel('Doctor').innerText(),
    /status_code\s+200/,
    'what it would read is shown before',
  );
  await page.getByRole('button', { name: 'Turn it on' }).first().click();
  await page.getByText(/reads what comes in from now on/).waitFor();
  await request(`${service.http}/v1/input/${key}`, {
    method: 'POST',
    headers: { 'content-type': 'text/plain' },
    body: LINE.replace('200 512', '503 17'),
  });
  await page.goto(`${service.http}/?q=http.status_code%3A503&from=2026-11-23&to=now%2B1d`);
  await page.getByText('1 event', { exact: true }).waitFor();
  t.equal((await request(`${service.http}/account/setup`, { method: 'POST' })).status >= 400, true);
  t.same(viewer.faults, []);
});

t.test('15 the set-up link works once', async (t) => {
  const page = await viewer.page();
  await page.goto(`${service.http}/setup#${token}`);
  await page.getByLabel('Password').fill(PASSWORD);
  await page.getByRole('button', { name: 'Begin' }).click();
  await page.getByText(/the set-up link is not valid/).waitFor();
  t.pass('the refusal is shown');
});

t.test(
  '13.1 a wrong password is told, the right one leads to where one was, and logging out ends it',
  async (t) => {
    const page = await viewer.page();
    await page.goto(`${service.http}/?q=nothing_like_it`);
    await page.getByLabel('Name', { exact: true }).fill('admin');
    await page.getByLabel('Password').fill('a wrong password');
    await page.getByRole('button', { name: 'Log in' }).click();
    await page.getByText(/name or password is wrong/).waitFor();
    await page.getByLabel('Password').fill(PASSWORD);
    await page.getByRole('button', { name: 'Log in' }).click();
    await page.getByText('Nothing found').waitFor();
    t.equal(await page.getByRole('combobox').inputValue(), 'nothing_like_it');
    await page.getByRole('button', { name: 'Account' }).click();
    await page.getByRole('menuitem', { name: 'Log out' }).click();
    await page.getByRole('button', { name: 'Log in' }).waitFor();
    t.match(page.url(), /nothing_like_it/);
  },
);

t.test('13.1 logins that fail too often are told to wait', async (t) => {
  const page = await viewer.page();
  await page.goto(`${service.http}/`);
  await page.getByRole('button', { name: 'Read key' }).click();
  const field = page.getByLabel('Read key', { exact: true }).last();
  for (let attempt = 0; attempt < 12; attempt++) {
    await field.fill(`wrong${attempt}`);
    const answered = page.waitForResponse(/account\/session/);
    await page.getByRole('button', { name: 'Log in' }).click();
    await answered;
  }
  await page.getByText(/too many logins with a wrong password or key/).waitFor();
  t.same(viewer.faults, []);
});
