import { type Draw, zipfRank } from '../bench/corpus/random.ts';
import { type DemoEvent, jsonEvent, syslogEvent } from './event.ts';

const HOSTS = 'lb-1 web-1 web-2 web-3 app-1 app-2 app-3 app-4 db-1 db-2 mail-1 backup-1'.split(' ');
const APPS = 'checkout cart payment catalog search account mail recommend'.split(' ');
const NODES = 6;

/** A message of a program and its severity. */
type Message = [program: string, severity: number, text: (draw: Draw) => string];

const address = (draw: Draw): string => `203.0.113.${draw.below(256)}`;
const port = (draw: Draw): number => 1_024 + draw.below(60_000);

const MESSAGES: readonly Message[] = [
  ['sshd', 6, (d) => `Failed password for invalid user admin from ${address(d)} port ${port(d)}`],
  ['sshd', 6, (d) => `Accepted publickey for deploy from 10.0.0.${d.below(20)} port ${port(d)}`],
  ['cron', 6, (d) => `(root) CMD (/usr/local/bin/rotate ${d.pick(['daily', 'hourly'])})`],
  ['systemd', 6, (d) => `Started session-${d.below(9_000)}.scope`],
  ['kernel', 4, (d) => `TCP: request_sock_TCP: Possible SYN flooding on port ${d.pick([443, 80])}`],
  ['postgres', 6, (d) => `checkpoint complete: wrote ${d.below(4_000)} buffers`],
  ['postgres', 4, (d) => `duration: ${(1_000 + d.below(4_000)).toFixed(3)} ms  statement: SELECT`],
  [
    'postfix',
    6,
    (d) => `${d.hex(10).toUpperCase()}: to=<user${d.below(900)}@example.org>, status=sent`,
  ],
  [
    'smartd',
    3,
    (d) => `Device: /dev/sd${d.pick(['a', 'b'])}, ${1 + d.below(8)} Currently unreadable sectors`,
  ],
];

/** Machines and containers beside the shop's requests. */
export class Machines {
  readonly #draw: Draw;
  readonly #message: () => number;

  constructor(draw: Draw) {
    this.#draw = draw;
    this.#message = zipfRank(MESSAGES.length, 0.8, draw.next);
  }

  /** A line of a machine's syslog. */
  line(timeMs: number): DemoEvent {
    const draw = this.#draw;
    const [program, severity, text] = MESSAGES[this.#message()];
    const facts = { severity, host: draw.pick(HOSTS), program, text: text(draw) };
    return syslogEvent(timeMs, program === 'sshd' ? { ...facts, facility: 10 } : facts);
  }

  /** A line of a container, with what a shipper adds to it. */
  container(timeMs: number): DemoEvent {
    const draw = this.#draw;
    const app = draw.pick(APPS);
    const level = draw.pick(['debug', 'info', 'info', 'info', 'info', 'warn']);
    const heap = 120 + draw.below(300);
    const messages = [
      `gc pause ${draw.below(90)}ms, heap ${heap}MB`,
      `health check passed in ${draw.below(30)}ms`,
      `connection to ${draw.pick(['db-1', 'db-2', 'cache-1'])} opened`,
      `cache refreshed: ${draw.below(9_000)} entries`,
    ];
    return jsonEvent('cluster', timeMs, {
      ...{ level, message: draw.pick(messages), heap_mb: heap },
      kubernetes: {
        ...{ namespace_name: 'shop', host: `node-${1 + draw.below(NODES)}` },
        ...{ pod_name: `${app}-${1 + draw.below(3)}`, container_name: app, labels: { app } },
      },
    });
  }
}
