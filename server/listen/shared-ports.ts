import { readKernelText, socketInodes } from '../../engine/base/text-file.ts';

/** The columns of /proc/net/tcp. */
const LOCAL_ADDRESS = 1;
const STATE = 3;
const INODE = 9;
const LISTENING = '0A';

/** A socket that listens. */
interface Listening {
  host: string;
  port: number;
  isOwn: boolean;
}

/**
 * Ports on which another process listens beside this one: the kernel lets those of one user share a port who ask for it,
 * and two processes that start at the same moment would.
 */
export function sharedPorts(): Set<number> {
  const own = socketInodes();
  const texts = ['/proc/net/tcp', '/proc/net/tcp6'].map((path) => readKernelText(path) ?? '');
  const all = texts.flatMap((text) => text.split('\n').flatMap((line) => listeningIn(line, own)));
  const others = all.filter(({ isOwn }) => !isOwn);
  const shared = all.filter(
    (ours) =>
      ours.isOwn && others.some((other) => other.port === ours.port && overlap(ours, other)),
  );
  return new Set(shared.map(({ port }) => port));
}

function listeningIn(line: string, own: ReadonlySet<string>): Listening[] {
  const columns = line.trim().split(/\s+/);
  if (columns[STATE] !== LISTENING) return [];
  const [host = '', port = ''] = (columns[LOCAL_ADDRESS] ?? '').split(':');
  return [{ host, port: Number.parseInt(port, 16), isOwn: own.has(columns[INODE] ?? '') }];
}

/** Reports whether a connection may go to either: one host, or all of them. */
function overlap(one: Listening, other: Listening): boolean {
  return one.host === other.host || [one, other].some(({ host }) => /^0+$/.test(host));
}
