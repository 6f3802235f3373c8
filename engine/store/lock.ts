import { randomBytes } from 'node:crypto';
import { connect, createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { EngineError } from '../base/errors.ts';
import { type Disk, type FolderHandle, linkName, openDisk, openFolder } from '../base/file.ts';
import { LOCK_NAME } from './filename.ts';

/** Bytes of a Unix socket's path; a longer one goes by the folder's open descriptor. */
const SOCKET_PATH_BYTES_MAX = 100;
/** Longest of the names below, the random part included. */
const NAME_BYTES_MAX = 32;
const NEW_PREFIX = 'lock.new.';
const OLD_PREFIX = 'lock.old.';
const ANSWER_WAIT_MS = 2_000;
const ATTEMPTS_MAX = 100;
const RETRY_MS = 10;

/** A folder that this process has. */
export interface FolderLock {
  /** Lets go of it. */
  release(): Promise<void>;
}

/**
 * Takes the folder `root`, making it when it is not there; who connects to its socket gets `greeting()` and the end.
 * Throws USAGE naming the process that has the folder, as far as its greeting tells (`"pid":123`); IO.
 *
 * The socket listens under a name of its own before it gets the name that counts, by a link, which only one can
 * have: so a socket of that name that refuses a connect is dead. A dead one is renamed aside, and looked at again,
 * because it may have been replaced meanwhile: then it gets its name back. Whoever takes the name while a living
 * socket lies aside gives way to it.
 */
export async function lockFolder(root: string, greeting: () => string): Promise<FolderLock> {
  const disk = openDisk(root);
  const folder = new LockFolder(root, disk);
  try {
    for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
      const server = await folder.listen(greeting);
      if (server !== undefined) {
        const living = await folder.livingAside();
        if (living.length === 0) {
          await folder.sweep();
          return { release: () => release(folder, server) };
        }
        await closed(server);
        for (const name of living) await folder.settle(name);
      }
      const holder = await folder.knock(LOCK_NAME);
      if (holder !== undefined) throw taken(root, holder);
      await folder.setAside();
    }
    throw new EngineError('IO', `the lock of ${root} changes hands all the time`);
  } catch (error) {
    folder.close();
    throw error;
  }
}

/** The greeting of the process that has the folder `root`; `undefined` when none has. Throws IO. */
export async function askHolder(root: string): Promise<string | undefined> {
  let handle: FolderHandle | undefined;
  try {
    handle = shortFolder(root);
    return await knockAt(join(handle?.path ?? root, LOCK_NAME));
  } catch (error) {
    if (isAbsent(error)) return undefined;
    throw error;
  } finally {
    handle?.close();
  }
}

/** The sockets of one folder. */
class LockFolder {
  readonly #root: string;
  readonly #disk: Disk;
  readonly #handle: FolderHandle | undefined;

  constructor(root: string, disk: Disk) {
    this.#root = root;
    this.#disk = disk;
    this.#handle = shortFolder(root);
  }

  knock(name: string): Promise<string | undefined> {
    return knockAt(this.#path(name));
  }

  /** Listens, and takes the name; `undefined` when somebody has it. */
  async listen(greeting: () => string): Promise<Server | undefined> {
    const name = uniqueName(NEW_PREFIX);
    const server = createServer((socket) => {
      socket.on('error', () => socket.destroy());
      socket.end(`${greeting()}\n`, () => socket.destroy());
    });
    server.unref();
    await new Promise<void>((resolve, reject) => {
      server.once('error', (cause) => reject(new EngineError('IO', 'lock failed', { cause })));
      server.listen(this.#path(name), resolve);
    });
    const won = linkName(this.#root, name, LOCK_NAME);
    await this.#forget(name);
    if (won) return server;
    await closed(server);
    return undefined;
  }

  /** Renames the socket that was found dead; gives its name back when it is not. */
  async setAside(): Promise<void> {
    const aside = uniqueName(OLD_PREFIX);
    try {
      await this.#disk.rename(LOCK_NAME, aside);
    } catch (error) {
      if (isAbsent(error)) return;
      throw error;
    }
    await this.settle(aside);
  }

  /** Names of living sockets that somebody has renamed aside. */
  async livingAside(): Promise<string[]> {
    const living: string[] = [];
    for (const name of this.#disk.list('')) {
      if (!name.startsWith(OLD_PREFIX)) continue;
      if ((await this.knock(name)) !== undefined) living.push(name);
    }
    return living;
  }

  /** Removes dead sockets that others left. A process that loses its new one by this begins again. */
  async sweep(): Promise<void> {
    for (const name of this.#disk.list('')) {
      if (!name.startsWith(NEW_PREFIX) && !name.startsWith(OLD_PREFIX)) continue;
      if ((await this.knock(name)) === undefined) await this.#forget(name);
    }
  }

  close(): void {
    this.#handle?.close();
  }

  /** Removes a socket that lies aside when it is dead, else gives it its name back. */
  async settle(aside: string): Promise<void> {
    for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
      const dead = (await this.knock(aside)) === undefined;
      if (dead || linkName(this.#root, aside, LOCK_NAME)) return this.#forget(aside);
      // Somebody took the name: they will see that this one lives, and give way.
      if ((await this.knock(LOCK_NAME)) === undefined) await this.setAside();
      else await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    }
  }

  async #forget(name: string): Promise<void> {
    try {
      await this.#disk.unlink(name);
    } catch (error) {
      if (!isAbsent(error)) throw error;
    }
  }

  #path(name: string): string {
    return join(this.#handle?.path ?? this.#root, name);
  }
}

async function release(folder: LockFolder, server: Server): Promise<void> {
  await closed(server);
  // Dead now, it goes the way of all dead ones. Its name is not removed at once: it may be another's by now.
  await folder.setAside();
  folder.close();
}

function closed(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
  });
}

/** What the socket at `path` says, `''` when it lives and says nothing; `undefined` when nobody listens. */
async function knockAt(path: string): Promise<string | undefined> {
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
    const answer = await answerAt(path);
    if (answer !== 'reset') return answer?.text;
    // It was about to close.
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
  }
  return '';
}

function answerAt(path: string): Promise<{ text: string } | 'reset' | undefined> {
  return new Promise((resolve, reject) => {
    let text = '';
    const socket = connect({ path });
    const timer = setTimeout(() => socket.destroy(), ANSWER_WAIT_MS);
    socket.setEncoding('utf8');
    socket.on('data', (part: string) => {
      text += part;
    });
    socket.on('error', (cause: NodeJS.ErrnoException) => {
      const { code } = cause;
      if (code === 'ECONNREFUSED' || code === 'ENOENT') resolve(undefined);
      else if (code === 'ECONNRESET' || code === 'EPIPE') resolve('reset');
      else if (code === 'EAGAIN') resolve({ text });
      else reject(new EngineError('IO', `connect to ${LOCK_NAME} failed: ${code}`, { cause }));
    });
    socket.on('close', () => {
      clearTimeout(timer);
      resolve({ text: text.trim() });
    });
  });
}

function taken(root: string, greeting: string): EngineError {
  const pid = /"pid":\s*(\d+)/.exec(greeting)?.[1];
  const holder = pid === undefined ? 'another process' : `process ${pid}`;
  return new EngineError('USAGE', `${root} is in use by ${holder}`);
}

function uniqueName(prefix: string): string {
  return `${prefix}${process.pid}.${randomBytes(4).toString('hex')}`;
}

function shortFolder(root: string): FolderHandle | undefined {
  const bytes = Buffer.byteLength(root) + 1 + NAME_BYTES_MAX;
  return bytes > SOCKET_PATH_BYTES_MAX ? openFolder(root) : undefined;
}

function isAbsent(error: unknown): boolean {
  const cause = error instanceof EngineError ? error.cause : error;
  return (cause as NodeJS.ErrnoException | undefined)?.code === 'ENOENT';
}
