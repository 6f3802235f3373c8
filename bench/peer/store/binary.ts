import { type ChildProcess, spawn } from 'node:child_process';

/** A store that is a server of its own: its binary, started on a free port of the loopback address. */

const START_MAX_MS = 60_000;
const STOP_MAX_MS = 60_000;
const OUTPUT_MAX = 100_000;

/** A server that runs. */
export interface Binary {
  pid: number;
  /** `http://127.0.0.1:<port>`. */
  url: string;
  /** SIGTERM, and SIGKILL to one that does not heed it. */
  stop(): Promise<void>;
}

/**
 * Starts a binary and waits for a line of its output that `ready` matches, whose first group is the port. It ends with
 * this process. Files that it names without a folder lie in `folder`. Rejects with the end of what it printed.
 */
export function startBinary(
  path: string,
  args: readonly string[],
  ready: RegExp,
  folder: string,
): Promise<Binary> {
  const child = spawn(path, args, { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] });
  process.once('exit', () => child.kill('SIGKILL'));
  process.once('disconnect', () => child.kill('SIGKILL'));
  return new Promise((resolve, reject) => {
    let output = '';
    const fail = (what: string): void => {
      child.kill('SIGKILL');
      const last = output.trim().split('\n').at(-1) ?? '';
      reject(new Error(`${path} ${what}: ${last}`));
    };
    const timer = setTimeout(() => fail('did not start'), START_MAX_MS);
    const onData = (chunk: Buffer): void => {
      output = (output + chunk.toString()).slice(-OUTPUT_MAX);
      const port = ready.exec(output)?.[1];
      if (port === undefined) return;
      clearTimeout(timer);
      child.stdout.removeAllListeners('data').resume();
      child.stderr.removeAllListeners('data').resume();
      resolve({
        pid: child.pid ?? 0,
        url: `http://127.0.0.1:${port}`,
        stop: () => stop(child),
      });
    };
    child.stdout.on('data', onData);
    child.stderr.on('data', onData);
    child.on('error', (error) => {
      clearTimeout(timer);
      reject(error);
    });
    child.on('exit', (code, signal) => {
      clearTimeout(timer);
      fail(`ended with ${signal ?? code}`);
    });
  });
}

function stop(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => child.kill('SIGKILL'), STOP_MAX_MS);
    child.once('exit', () => {
      clearTimeout(timer);
      resolve();
    });
    if (!child.kill('SIGTERM')) {
      clearTimeout(timer);
      resolve();
    }
  });
}
