import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { removeFolder, temporaryFolder } from '../support/service.ts';

/** Real shippers, unpacked by install.sh, each in a folder of its own. */

const ROOT = new URL('../../.shippers/', import.meta.url).pathname;
const LIBRARIES = ['usr/lib/x86_64-linux-gnu', 'lib/x86_64-linux-gnu', 'usr/lib/syslog-ng'];

/** Where a shipper sends to, in its own words. */
export interface Target {
  protocol: 'tcp' | 'tls' | 'udp';
  port: number;
  key: string;
  /** The certificate of the service, for TLS. */
  certificate: string;
}

/** A running shipper that passes on what is written to its input. */
export interface Shipper {
  /** Path of the Unix socket that `logger` writes to. */
  socket: string;
  stop(): Promise<void>;
}

/** True when install.sh has unpacked what the tests need. */
export function areInstalled(): boolean {
  return ['root/usr/sbin/rsyslogd', 'root/usr/sbin/syslog-ng', 'python/bin/python'].every((path) =>
    existsSync(join(ROOT, path)),
  );
}

function run(program: string, args: string[]): ChildProcess {
  const LD_LIBRARY_PATH = LIBRARIES.map((path) => join(ROOT, 'root', path)).join(':');
  return spawn(join(ROOT, 'root', program), args, {
    env: { ...process.env, LD_LIBRARY_PATH },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
}

async function shipper(folder: string, socket: string, child: ChildProcess): Promise<Shipper> {
  const closed = new Promise((resolve) => child.on('close', resolve));
  while (!existsSync(socket)) {
    if (child.exitCode !== null) throw new Error(`the shipper ended with ${child.exitCode}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return {
    socket,
    stop: async () => {
      child.kill('SIGTERM');
      await closed;
      removeFolder(folder);
    },
  };
}

/** rsyslog with the vendor's template: it writes VERSION 0 for local messages. */
export function startRsyslog(target: Target): Promise<Shipper> {
  const folder = temporaryFolder();
  const socket = join(folder, 'log.sock');
  const modules = join(ROOT, 'root/usr/lib/x86_64-linux-gnu/rsyslog');
  const tls =
    'StreamDriver="gtls" StreamDriverMode="1" StreamDriverAuthMode="x509/name" StreamDriverPermittedPeers="localhost"';
  writeFileSync(
    join(folder, 'rsyslog.conf'),
    `global(workDirectory="${folder}" defaultNetstreamDriverCAFile="${target.certificate}")
module(load="imuxsock" SysSock.Use="off")
input(type="imuxsock" Socket="${socket}" CreatePath="on")
template(name="keyed" type="string" string="${target.key} <%pri%>%protocol-version% %timestamp:::date-rfc3339% %HOSTNAME% %app-name% %procid% %msgid% %structured-data%  %msg%\\n")
action(type="omfwd" target="127.0.0.1" port="${target.port}" protocol="${target.protocol === 'udp' ? 'udp' : 'tcp'}" ${target.protocol === 'tls' ? tls : ''} template="keyed")
`,
  );
  const args = ['-n', '-f', join(folder, 'rsyslog.conf'), '-i', join(folder, 'pid'), '-M', modules];
  return shipper(folder, socket, run('usr/sbin/rsyslogd', args));
}

/** syslog-ng with a template of the key and an RFC 5424 line. */
export function startSyslogNg(target: Target): Promise<Shipper> {
  const folder = temporaryFolder();
  const socket = join(folder, 'log.sock');
  const trusted = join(folder, 'trusted');
  mkdirSync(trusted);
  const tls = `tls(ca-file("${target.certificate}") peer-verify(required-trusted))`;
  writeFileSync(
    join(folder, 'syslog-ng.conf'),
    `@version: 3.38
source s { unix-dgram("${socket}"); };
template keyed { template("${target.key} <$PRI>1 $ISODATE $HOST $PROGRAM \${PID:--} \${MSGID:--} \${SDATA:--} $MSG\\n"); };
destination d { network("127.0.0.1" port(${target.port}) transport("${target.protocol}") template(keyed) ${target.protocol === 'tls' ? tls : ''}); };
log { source(s); destination(d); };
`,
  );
  const files = ['-f', 'syslog-ng.conf', '-R', 'persist', '-p', 'pid', '-c', 'control'];
  const paths = files.map((file, at) => (at % 2 === 0 ? file : join(folder, file)));
  const modules = join(ROOT, 'root/usr/lib/syslog-ng/3.38');
  return shipper(
    folder,
    socket,
    run('usr/sbin/syslog-ng', ['-F', '--no-caps', `--module-path=${modules}`, ...paths]),
  );
}

/** Writes a line to a shipper as `logger` does. */
export function logLine(socket: string, tag: string, text: string): Promise<void> {
  return finish(
    spawn('logger', ['-u', socket, '--socket-errors=on', '-t', tag, '-p', 'auth.warning', text]),
  );
}

/** Runs a Python program with `logmatic-python` in reach. */
export function runPython(program: string): Promise<void> {
  return finish(spawn(join(ROOT, 'python/bin/python'), ['-c', program]));
}

function finish(child: ChildProcess): Promise<void> {
  let complaint = '';
  child.stderr?.on('data', (chunk) => {
    complaint += chunk;
  });
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => (code === 0 ? resolve() : reject(new Error(complaint))));
  });
}
