import type { Draw } from './random.ts';
import { WORDS } from './words.ts';

/** Words that the messages are made of. */
export interface Parts {
  draw: Draw;
  user(): string;
  /** Name of another machine. */
  host(): string;
  address(): string;
  port(): number;
  /** Date of the event as HAProxy writes it. */
  date(): string;
}

/** A program, its facility, whether it tells its process, and its messages with their severities. */
export interface Program {
  name: string;
  facility: number;
  hasProcess: boolean;
  messages: readonly [severity: number, text: (parts: Parts) => string][];
}

const mail = (draw: Draw): string => draw.hex(10).toUpperCase();
const seconds = (draw: Draw): string => draw.lognormal(0, 1).toFixed(2);

/** The programs of a server room; the first ones write most. */
export const PROGRAMS: readonly Program[] = [
  {
    name: 'sshd',
    facility: 10,
    hasProcess: true,
    messages: [
      [
        6,
        (p) =>
          `Accepted publickey for ${p.user()} from ${p.address()} port ${p.port()} ssh2: ED25519 SHA256:${p.draw.hex(43)}`,
      ],
      [
        6,
        (p) =>
          `Failed password for invalid user ${p.user()} from ${p.address()} port ${p.port()} ssh2`,
      ],
      [
        6,
        (p) =>
          `Connection closed by authenticating user root ${p.address()} port ${p.port()} [preauth]`,
      ],
      [
        6,
        (p) =>
          `pam_unix(sshd:session): session opened for user ${p.user()}(uid=${1000 + p.draw.below(2000)}) by (uid=0)`,
      ],
      [
        3,
        (p) =>
          `error: kex_exchange_identification: Connection closed by remote host ${p.address()}`,
      ],
    ],
  },
  {
    name: 'kernel',
    facility: 0,
    hasProcess: false,
    messages: [
      [
        4,
        (p) =>
          `[${p.draw.below(9e6)}.${100_000 + p.draw.below(899_999)}] [UFW BLOCK] IN=eth0 OUT= MAC=${p.draw.hex(12)} SRC=${p.address()} DST=10.0.${p.draw.below(8)}.${p.draw.below(256)} LEN=${40 + p.draw.below(1460)} TOS=0x00 PREC=0x00 TTL=${32 + p.draw.below(224)} ID=${p.draw.below(65_536)} PROTO=TCP SPT=${p.port()} DPT=${p.draw.pick([22, 23, 80, 443, 3389, 8080])} WINDOW=1024 RES=0x00 SYN URGP=0`,
      ],
      [
        6,
        (p) =>
          `[${p.draw.below(9e6)}.${100_000 + p.draw.below(899_999)}] eth0: link up, 10000Mbps, full-duplex`,
      ],
      [
        3,
        (p) =>
          `[${p.draw.below(9e6)}.${100_000 + p.draw.below(899_999)}] Out of memory: Killed process ${p.draw.below(4e6)} (java) total-vm:${p.draw.below(3e7)}kB, anon-rss:${p.draw.below(2e7)}kB, oom_score_adj:0`,
      ],
    ],
  },
  {
    name: 'postfix/smtpd',
    facility: 2,
    hasProcess: true,
    messages: [
      [6, (p) => `${mail(p.draw)}: client=mail-${p.draw.hex(4)}.example.net[${p.address()}]`],
      [6, (p) => `disconnect from unknown[${p.address()}] ehlo=1 auth=0/1 quit=1 commands=2/3`],
      [
        4,
        (p) =>
          `warning: hostname host-${p.draw.below(9999)}.example.org does not resolve to address ${p.address()}`,
      ],
    ],
  },
  {
    name: 'postfix/smtp',
    facility: 2,
    hasProcess: true,
    messages: [
      [
        6,
        (p) =>
          `${mail(p.draw)}: to=<${p.user()}@example.com>, relay=mx${1 + p.draw.below(4)}.example.com[${p.address()}]:25, delay=${seconds(p.draw)}, delays=0.02/0/0.11/0.4, dsn=2.0.0, status=sent (250 2.0.0 Ok: queued as ${mail(p.draw)})`,
      ],
      [
        6,
        (p) =>
          `${mail(p.draw)}: to=<${p.user()}@example.org>, relay=none, delay=${seconds(p.draw)}, dsn=4.4.1, status=deferred (connect to example.org[${p.address()}]:25: Connection timed out)`,
      ],
    ],
  },
  {
    name: 'CRON',
    facility: 9,
    hasProcess: true,
    messages: [
      [
        6,
        (p) =>
          `(root) CMD (cd / && run-parts --report /etc/cron.${p.draw.pick(['hourly', 'daily', 'weekly'])})`,
      ],
      [
        6,
        (p) =>
          `(${p.user()}) CMD (/usr/local/bin/${p.draw.pick(WORDS)}-${p.draw.pick(WORDS)} --quiet)`,
      ],
    ],
  },
  {
    name: 'systemd',
    facility: 3,
    hasProcess: true,
    messages: [
      [
        6,
        (p) =>
          `Started ${p.draw.pick(WORDS)}-${p.draw.pick(WORDS)}.service - ${p.draw.pick(WORDS)} of the shop.`,
      ],
      [6, (p) => `session-${p.draw.below(100_000)}.scope: Deactivated successfully.`],
      [
        4,
        (p) =>
          `${p.draw.pick(WORDS)}.service: Main process exited, code=exited, status=${1 + p.draw.below(127)}/FAILURE`,
      ],
    ],
  },
  {
    name: 'haproxy',
    facility: 16,
    hasProcess: true,
    messages: [
      [
        6,
        (p) =>
          `${p.address()}:${p.port()} [${p.date()}] https~ app/web-${p.draw.below(20)} 0/0/${p.draw.below(9)}/${p.draw.below(900)}/${p.draw.below(999)} ${p.draw.pick([200, 200, 200, 304, 404, 503])} ${p.draw.below(90_000)} - - ---- ${p.draw.below(900)}/${p.draw.below(900)}/${p.draw.below(90)}/${p.draw.below(90)}/0 0/0 "GET /${p.draw.pick(WORDS)}/${p.draw.below(1e6)} HTTP/1.1"`,
      ],
    ],
  },
  {
    name: 'named',
    facility: 3,
    hasProcess: true,
    messages: [
      [
        6,
        (p) =>
          `client @0x7f${p.draw.hex(10)} ${p.address()}#${p.port()} (${p.host()}.example.com): query: ${p.host()}.example.com IN ${p.draw.pick(['A', 'AAAA', 'PTR', 'MX'])} +E(0)K (10.0.0.2)`,
      ],
      [
        5,
        (p) =>
          `lame server resolving '${p.host()}.example.net' (in 'example.net'?): ${p.address()}#53`,
      ],
    ],
  },
  {
    name: 'dhcpd',
    facility: 3,
    hasProcess: true,
    messages: [
      [
        6,
        (p) =>
          `DHCPACK on 10.1.${p.draw.below(16)}.${p.draw.below(256)} to 02:00:${p.draw.hex(2)}:${p.draw.hex(2)}:${p.draw.hex(2)}:${p.draw.hex(2)} (${p.host()}) via eth1`,
      ],
      [
        6,
        (p) =>
          `DHCPDISCOVER from 02:00:${p.draw.hex(2)}:${p.draw.hex(2)}:${p.draw.hex(2)}:${p.draw.hex(2)} via eth1: network 10.1.0.0/20: no free leases`,
      ],
    ],
  },
  {
    name: 'dovecot',
    facility: 2,
    hasProcess: false,
    messages: [
      [
        6,
        (p) =>
          `imap-login: Login: user=<${p.user()}>, method=PLAIN, rip=${p.address()}, lip=10.0.0.5, mpid=${p.draw.below(4e6)}, TLS, session=<${p.draw.hex(16)}>`,
      ],
      [
        6,
        (p) =>
          `imap(${p.user()})<${p.draw.below(4e6)}><${p.draw.hex(16)}>: Logged out in=${p.draw.below(9e4)} out=${p.draw.below(9e5)} deleted=0 expunged=${p.draw.below(4)} trashed=0`,
      ],
    ],
  },
  {
    name: 'sudo',
    facility: 10,
    hasProcess: false,
    messages: [
      [
        5,
        (p) =>
          `${p.user().padStart(8)} : TTY=pts/${p.draw.below(9)} ; PWD=/home ; USER=root ; COMMAND=/usr/bin/systemctl restart ${p.draw.pick(WORDS)}`,
      ],
    ],
  },
  {
    name: 'postgres',
    facility: 16,
    hasProcess: true,
    messages: [
      [
        6,
        (p) =>
          `[${p.draw.below(900)}-1] LOG:  duration: ${p.draw.lognormal(3, 2).toFixed(3)} ms  statement: SELECT * FROM ${p.draw.pick(WORDS)} WHERE id = ${p.draw.below(1e7)}`,
      ],
      [
        3,
        (p) =>
          `[${p.draw.below(900)}-1] ERROR:  duplicate key value violates unique constraint "${p.draw.pick(WORDS)}_pkey"`,
      ],
      [
        6,
        (p) =>
          `[${p.draw.below(900)}-1] LOG:  checkpoint complete: wrote ${p.draw.below(9000)} buffers (${seconds(p.draw)}%); 0 WAL file(s) added`,
      ],
    ],
  },
  {
    name: 'openvpn',
    facility: 3,
    hasProcess: true,
    messages: [
      [
        5,
        (p) => `${p.user()}/${p.address()}:${p.port()} peer info: IV_VER=2.6.${p.draw.below(12)}`,
      ],
      [
        4,
        (p) =>
          `${p.address()}:${p.port()} TLS Error: TLS key negotiation failed to occur within 60 seconds`,
      ],
    ],
  },
  {
    name: 'ntpd',
    facility: 3,
    hasProcess: true,
    messages: [[6, (p) => `adjusting local clock by ${p.draw.lognormal(-3, 1).toFixed(6)}s`]],
  },
  {
    name: 'rsyslogd',
    facility: 5,
    hasProcess: false,
    messages: [
      [
        6,
        (p) =>
          `imuxsock[pid: ${p.draw.below(4e6)}, name: /usr/bin/${p.draw.pick(WORDS)}] from <${p.draw.pick(WORDS)}:info>: begin to drop messages due to rate-limiting`,
      ],
    ],
  },
  {
    name: 'smartd',
    facility: 3,
    hasProcess: true,
    messages: [
      [
        6,
        (p) =>
          `Device: /dev/sd${p.draw.pick(['a', 'b', 'c', 'd'])} [SAT], SMART Usage Attribute: 194 Temperature_Celsius changed from ${60 + p.draw.below(9)} to ${60 + p.draw.below(9)}`,
      ],
    ],
  },
];
