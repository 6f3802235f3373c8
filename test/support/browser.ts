import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import chromium from '@sparticuz/chromium';
import { type Browser, type BrowserContext, chromium as driver, type Page } from 'playwright-core';
import { request, type Service } from './service.ts';

/** A real browser in front of the running service, for tests of the console. Nothing that it is answered is made up. */

/** The folder of the pictures of screens. */
export const SCREENS_FOLDER = new URL('../../.tap/screens/', import.meta.url).pathname;
/** Password of the administrator of `firstUser`. */
export const PASSWORD = 'correct horse battery';
/** Messages of a browser about the network while the service is down or refuses. */
const EXPECTED = /Failed to load resource|net::ERR_/;

const require = createRequire(import.meta.url);

/** A browser with the faults that its pages had. */
export interface Viewer {
  readonly browser: Browser;
  /** Errors of scripts, and of the console, but for those of the network. */
  readonly faults: string[];
  /** A page of a context of its own, or of `context`. */
  page(options?: Parameters<Browser['newContext']>[0], context?: BrowserContext): Promise<Page>;
  close(): Promise<void>;
}

/** Starts the browser that npm has brought. */
export async function openViewer(): Promise<Viewer> {
  // The library unpacks into the system's temporary folder, which tests that run at the same time share.
  const folder = mkdtempSync(join(tmpdir(), 'logseam-browser-'));
  process.env['TMPDIR'] = folder;
  const executablePath = await chromium.executablePath();
  const browser = await driver.launch({
    executablePath,
    args: ['--no-sandbox', '--disable-gpu', '--headless=shell', '--font-render-hinting=none'],
  });
  const faults: string[] = [];
  return {
    browser,
    faults,
    page: async (options = {}, context) => {
      const page = await (context ?? (await browser.newContext(options))).newPage();
      page.on('pageerror', (error) => faults.push(String(error.stack ?? error)));
      page.on('console', (message) => {
        if (message.type() === 'error' && !EXPECTED.test(message.text()))
          faults.push(message.text());
      });
      return page;
    },
    close: async () => {
      await browser.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Makes the first user by the API, and logs a context in. */
export async function firstUser(service: Service, context: BrowserContext): Promise<void> {
  const token = readFileSync(join(service.folder, 'setup-token'), 'utf8').trim();
  const made = await context.request.post(`${service.http}/account/setup`, {
    headers: { origin: service.http },
    data: { token, name: 'admin', password: PASSWORD },
  });
  if (!made.ok()) throw new Error(await made.text());
}

/** A request with the token of the administration. */
export async function administer<T>(
  service: Service,
  method: string,
  path: string,
  body?: unknown,
): Promise<T> {
  const token = readFileSync(join(service.folder, 'admin-token'), 'utf8').trim();
  const answer = await request(`${service.http}/admin/api/${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  if (answer.status !== 200) throw new Error(answer.text);
  return (answer.body as { result: T }).result;
}

/** The violations of accessibility that a page has: a rule each, how often, and where first. Source: axe-core. */
export async function violations(page: Page): Promise<string[]> {
  await page.evaluate(readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8'));
  return page.evaluate(async () => {
    const { axe } = globalThis as unknown as { axe: { run(): Promise<AxeResult> } };
    const { violations: found } = await axe.run();
    return found.map(
      ({ id, nodes }) =>
        `${id}, ${nodes.length}: ${nodes[0].target.join(' ')} ${nodes[0].failureSummary}`,
    );
  });
}

interface AxeResult {
  violations: { id: string; nodes: { target: string[]; failureSummary: string }[] }[];
}

/** Keeps a picture of a page as an artefact. */
export async function picture(page: Page, name: string): Promise<void> {
  mkdirSync(SCREENS_FOLDER, { recursive: true });
  await page.screenshot({ path: join(SCREENS_FOLDER, `${name}.png`) });
}

/** The texts of the rows of a list of events that are on the page. */
export function rowTexts(page: Page): Promise<string[]> {
  return page.locator('.list .row:not(.heads) .cell.text').allInnerTexts();
}
