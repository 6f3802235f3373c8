import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The real service in a process of its own, for service tests and benches. */

/** The executable. */
export const COMMAND = new URL('../../server/logseam', import.meta.url).pathname;
const START_MAX_MS = 120_000;

/** A running service. */
export interface Service {
  folder: string;
  pid: number;
  /** `http://127.0.0.1:<port>`. */
  http: string;
  tcpPort: number;
  /** Those that are not listened on are 0 or empty; `https` is like `http`. */
  https: string;
  httpInput: string;
  httpsInput: string;
  tlsPort: number;
  udpPort: number;
  /** Keys that the first start printed; empty on a later start in the same folder. */
  writeKey: string;
  readKey: string;
  /** All that the process has printed so far. */
  output(): string;
  /** SIGTERM; resolves with the exit code. */
  stop(): Promise<number | null>;
  /** SIGKILL; resolves when the process is gone. */
  kill(): Promise<void>;
  /** Resolves with the exit code when the process has ended. */
  ended: Promise<number | null>;
}

/** An empty folder below the system's temporary one. */
export function temporaryFolder(): string {
  return mkdtempSync(join(tmpdir(), 'logseam-'));
}

/** Removes a folder of `temporaryFolder`. */
export function removeFolder(folder: string): void {
  rmSync(folder, { recursive: true, force: true });
}

/** The environment of services: what a test runner loads into each process would count as their memory. */
const OWN_ENVIRONMENT: NodeJS.ProcessEnv = { ...process.env, NODE_OPTIONS: '' };

/** Runs the command to its end. */
export function runCommand(
  args: string[],
  environment: Record<string, string> = {},
): Promise<{ code: number | null; stdout: string; stderr: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn(COMMAND, args, { env: { ...OWN_ENVIRONMENT, ...environment } });
    let stdout = '';
    let stderr = '';
    child.stdout.on('data', (chunk) => {
      stdout += chunk;
    });
    child.stderr.on('data', (chunk) => {
      stderr += chunk;
    });
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, stdout, stderr }));
  });
}

/** Where a service of a test listens: free ports of the loopback address. Flags that come later win. */
export const TEST_LISTENERS: readonly string[] = [
  ...['--http', '127.0.0.1:0', '--tcp', '127.0.0.1:0'],
  ...['--https', 'off', '--tls', 'off', '--udp', 'off'],
];

/**
 * Starts the service with TEST_LISTENERS, of which `args` may change some, and resolves when it is ready. `command` is
 * the executable of another checkout, `environment` is added to that of the test.
 */
export function startService(
  folder: string,
  args: string[] = [],
  options: { command?: string; environment?: Record<string, string> } = {},
): Promise<Service> {
  const all = ['serve', '--data', folder, ...TEST_LISTENERS, ...args];
  const child = spawn(options.command ?? COMMAND, all, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...OWN_ENVIRONMENT, ...options.environment },
  });
  let output = '';
  const ended = new Promise<number | null>((resolve) => {
    child.on('close', (code) => resolve(code));
  });
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      child.kill('SIGKILL');
      reject(new Error(`the service did not start:\n${output}`));
    }, START_MAX_MS);
    const onData = (chunk: Buffer): void => {
      output += chunk;
      if (!/^ready$/m.test(output)) return;
      clearTimeout(timer);
      resolve(describe(child, folder, () => output, ended));
    };
    child.stdout.on('data', onData);
    child.stderr.on('data', onData);
    void ended.then((code) => {
      clearTimeout(timer);
      reject(new Error(`the service ended with ${code}:\n${output}`));
    });
  });
}

/** Test of a file, whose end is the end of what was started for it. */
interface Lasting {
  teardown(end: () => Promise<void>): void;
}

/** Starts a service in a folder of its own; behind the tests of `t` it is stopped and the folder removed. */
export async function testService(t: Lasting, args: string[] = []): Promise<Service> {
  const folder = temporaryFolder();
  const service = await startService(folder, args);
  t.teardown(async () => {
    await service.stop();
    removeFolder(folder);
  });
  return service;
}

function describe(
  child: ChildProcess,
  folder: string,
  output: () => string,
  ended: Promise<number | null>,
): Service {
  const find = (pattern: RegExp): string => pattern.exec(output())?.[1] ?? '';
  return {
    folder,
    pid: child.pid ?? 0,
    http: find(/(http:\/\/127\.0\.0\.1:\d+)/),
    https: find(/^ +HTTPS +(https:\/\/127\.0\.0\.1:\d+)$/m),
    httpInput: find(/^ +HTTP input +(http:\/\/127\.0\.0\.1:\d+)$/m),
    tcpPort: Number(find(/^ +TCP +127\.0\.0\.1:(\d+)$/m)),
    httpsInput: find(/^ +HTTPS input +(https:\/\/127\.0\.0\.1:\d+)$/m),
    tlsPort: Number(find(/^ +TLS +127\.0\.0\.1:(\d+)$/m)),
    udpPort: Number(find(/^ +UDP +127\.0\.0\.1:(\d+)$/m)),
    writeKey: find(/write key +([\w-]{22})/),
    readKey: find(/read key +([\w-]{22})/),
    output,
    ended,
    stop: () => {
      child.kill('SIGTERM');
      return ended;
    },
    kill: async () => {
      child.kill('SIGKILL');
      await ended;
    },
  };
}

/** The answer of a request: its status and its body, parsed when it is JSON. */
export interface Answer {
  status: number;
  headers: Headers;
  text: string;
  // A test looks at whatever came back.
  body: unknown;
}

/** One HTTP request. */
export async function request(url: string, init: RequestInit = {}): Promise<Answer> {
  const response = await fetch(url, init);
  const text = await response.text();
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    body = undefined;
  }
  return { status: response.status, headers: response.headers, text, body };
}

/** POSTs content to the input route of a write key. */
export function send(
  service: Service,
  content: string | Uint8Array,
  type = 'application/json',
): Promise<Answer> {
  return request(`${service.http}/v1/input/${service.writeKey}`, {
    method: 'POST',
    headers: { 'content-type': type },
    body: content as BodyInit,
  });
}

/** POSTs a query with the read key. */
export function ask(service: Service, path: string, query: object): Promise<Answer> {
  return request(`${service.http}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': service.readKey },
    body: JSON.stringify(query),
  });
}

/** The number of events that a search finds, of all times. Rejects when the service does not say. */
export async function countOf(service: Service, search: string): Promise<number> {
  const answer = await ask(service, '/beta/events/aggregate', {
    time: { from: 0, to: 4e12 },
    filters: [{ search }],
    compute: [{ metric: { id: 'count', output: 'c' } }],
  });
  if (answer.status !== 200) throw new Error(`${answer.status} ${answer.text}`);
  const { result } = answer.body as { result: { aggregates: { values: { c: number } }[] } };
  return result.aggregates[0].values.c;
}

/** An event of a list reply, as tests look at it. */
export interface Listed {
  id: string;
  date: string;
  event: { custom: Record<string, unknown>; syslog?: Record<string, unknown>; message?: string };
}

/** All events of the service, newest first, as list pages of `limit` give them. */
export async function listAll(
  service: Service,
  query: object = {},
  limit = 1_000,
): Promise<Listed[]> {
  const events: Listed[] = [];
  let after: string | undefined;
  for (;;) {
    const answer = await ask(service, '/beta/events/list', {
      time: { from: -62_135_596_800_000, to: 253_402_300_799_999 },
      event: true,
      limit,
      ...(after === undefined ? {} : { afterEvent: after }),
      ...query,
    });
    if (answer.status !== 200) throw new Error(`list answered ${answer.status}: ${answer.text}`);
    const page = (answer.body as { result: { events: Listed[] } }).result.events;
    events.push(...page);
    if (page.length < limit) return events;
    after = page[page.length - 1].id;
  }
}

/** Sends `content` over a new TCP connection, half-closes, and resolves when the service has closed its side. */
export function sendTcp(port: number, content: string | Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket: Socket = connect(port, '127.0.0.1', () => socket.end(content));
    socket.on('error', reject);
    socket.on('close', () => resolve());
    socket.on('data', () => reject(new Error('the service sent something')));
  });
}

/** CPU seconds that a process has used: all its threads, and its children that have ended. */
export function cpuSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /, '')
    .split(' ');
  return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) / 100;
}

/** The most memory that a process ever had resident (VmHWM), in megabytes. */
export function peakMegabytes(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(/VmHWM:\s+(\d+)/.exec(status)?.[1]) / 1000;
}
