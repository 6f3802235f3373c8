import { shortDate, slashDate } from './clock.ts';
import type { Draw } from './random.ts';
import { stackOf } from './stack.ts';
import { WORDS } from './words.ts';

/** When a line is written, and what it is drawn from. */
interface Moment {
  timeMs: number;
  /** Three digits below the millisecond. */
  micros: string;
  draw: Draw;
}

/** A line of a container: its stream, and the members that it gives the shipped object, as JSON text. */
interface ContainerLine {
  stream: 'stdout' | 'stderr';
  members: string;
}

/** An application and how it logs. */
export interface ContainerLog {
  app: string;
  namespace: string;
  write(moment: Moment): ContainerLine;
}

const STACK_BYTES = 2_000;
const STACKS = 100;
const USERS_MAX = 50_000;

/** A line that is text, in `log`. */
function textLine(stream: 'stdout' | 'stderr', text: string): ContainerLine {
  return { stream, members: `"log":${JSON.stringify(text)}` };
}

function iso({ timeMs, micros }: Moment): string {
  return `${new Date(timeMs).toISOString().slice(0, 23)}${micros}Z`;
}

function words(draw: Draw, count: number): string {
  return Array.from({ length: count }, () => draw.pick(WORDS)).join(' ');
}

/** JSON of pino, whose members Fluent Bit merges into the object. */
function pino({ timeMs, draw }: Moment): ContainerLine {
  const level = draw.pick([30, 30, 30, 30, 40, 50]);
  const request = draw.chance(0.7)
    ? `,"req":{"id":"${draw.hex(12)}","method":"${draw.pick(['GET', 'POST'])}","url":"/${draw.pick(WORDS)}/${draw.below(1e6)}"},"responseTime":${draw.below(900)}`
    : '';
  return {
    stream: 'stdout',
    members: `"level":${level},"time":${timeMs},"pid":1,"hostname":"app-${draw.below(40)}"${request},"msg":"${words(draw, 3)}"`,
  };
}

/** JSON of zap, which stays text in `log`. */
function zap(moment: Moment): ContainerLine {
  const { timeMs, micros, draw } = moment;
  const text = `{"level":"${draw.pick(['info', 'info', 'warn', 'error'])}","ts":${(timeMs / 1000).toFixed(3)}${micros},"caller":"${draw.pick(WORDS)}/${draw.pick(WORDS)}.go:${draw.below(900)}","msg":"${words(draw, 4)}","user_id":${draw.below(USERS_MAX)},"took":"${draw.lognormal(1, 1).toFixed(3)}ms"}`;
  return textLine('stderr', text);
}

/** JSON of logback, merged. */
function logback(moment: Moment): ContainerLine {
  const { draw } = moment;
  return {
    stream: 'stdout',
    members: `"@timestamp":"${iso(moment)}","@version":"1","message":"${words(draw, 5)} ${draw.below(1e6)}","logger_name":"com.example.${draw.pick(WORDS)}.${draw.pick(WORDS)}","thread_name":"exec-${draw.below(64)}","level":"${draw.pick(['INFO', 'INFO', 'DEBUG', 'WARN'])}","level_value":20000,"traceId":"${draw.hex(32)}","spanId":"${draw.hex(16)}"`,
  };
}

/** Java without JSON: a line of text, and one of fifty an exception that the shipper has put together. */
function java(moment: Moment): ContainerLine {
  const { draw } = moment;
  const head = `${iso(moment).slice(0, 23).replace('T', ' ')} [exec-${draw.below(64)}]`;
  if (!draw.chance(0.02)) {
    return textLine('stdout', `${head} INFO  c.e.${draw.pick(WORDS)}.Main - ${words(draw, 5)}`);
  }
  const stack = stackOf(draw.below(STACKS), STACK_BYTES, draw);
  const text = `${head} ERROR c.e.${draw.pick(WORDS)}.Main - request failed\\n${stack.text}\\n`;
  return { stream: 'stderr', members: `"log":"${text}"` };
}

/** Klog of the parts of Kubernetes themselves. */
function klog(moment: Moment): ContainerLine {
  const { timeMs, draw } = moment;
  const time = iso(moment);
  const severity = draw.pick(['I', 'I', 'I', 'I', 'W', 'E']);
  const what = draw.pick([
    '"Reconciled"',
    '"Starting controller"',
    '"Unable to sync"',
    '"Probe failed"',
  ]);
  return textLine(
    'stderr',
    `${severity}${time.slice(5, 7)}${time.slice(8, 10)} ${time.slice(11, 26)}       1 ${draw.pick(WORDS)}_controller.go:${draw.below(900)}] ${what} pod="${draw.pick(WORDS)}/${draw.pick(WORDS)}-${draw.hex(5)}" attempt=${draw.below(9)} at="${shortDate(timeMs)}"`,
  );
}

/** Access lines of an nginx ingress. */
function nginx({ timeMs, draw }: Moment): ContainerLine {
  const date = `${slashDate(timeMs).slice(0, 20)} +0000`;
  const status = draw.pick([200, 200, 200, 200, 301, 304, 404, 499, 502]);
  return textLine(
    'stdout',
    `10.${draw.below(8)}.${draw.below(256)}.${draw.below(256)} - - [${date}] "${draw.pick(['GET', 'GET', 'POST'])} /${draw.pick(WORDS)}/${draw.below(1e6)} HTTP/2.0" ${status} ${Math.round(draw.lognormal(7, 2))} "-" "Mozilla/5.0 (X11; Linux x86_64) Chrome/${90 + draw.below(52)}.0.0.0" ${draw.below(2_000)} ${draw.lognormal(-3, 1).toFixed(3)} [shop-${draw.pick(WORDS)}-80] ${draw.hex(32)}`,
  );
}

/** Logfmt of Go programs. */
function logfmt(moment: Moment): ContainerLine {
  const { draw } = moment;
  return textLine(
    'stderr',
    `ts=${iso(moment)} caller=${draw.pick(WORDS)}.go:${draw.below(900)} level=${draw.pick(['info', 'info', 'warn', 'error'])} component=${draw.pick(WORDS)} msg="${words(draw, 3)}" duration=${draw.lognormal(1, 1).toFixed(3)}ms id=${draw.hex(8)}`,
  );
}

/** Plain text of databases and scripts, some of it coloured, some not English. */
function plain(moment: Moment): ContainerLine {
  const { draw } = moment;
  const text = draw.pick([
    () => `1:M ${shortDate(moment.timeMs)} * Background saving terminated with success`,
    () => `${iso(moment)} UTC [${draw.below(900)}] LOG:  checkpoint starting: time`,
    () => `\u001b[32mINFO\u001b[0m ${words(draw, 4)}`,
    () => `Überprüfung von „${draw.pick(WORDS)}“ beendet: ${draw.below(900)} Einträge`,
    () => `処理 ${draw.below(1e6)} 完了 (${draw.pick(WORDS)})`,
    () => `\t- ${draw.pick(WORDS)}: ${draw.below(1e6)} bytes`,
    () =>
      `panic: runtime error: index out of range [${draw.below(9)}] with length ${draw.below(9)}`,
  ])();
  return textLine(draw.pick(['stdout', 'stdout', 'stderr']), text);
}

/** The applications of the cluster, 24, by how they log. */
export const LOGS: readonly ContainerLog[] = (
  [
    [pino, 'shop', 'cart checkout storefront recommend'],
    [nginx, 'ingress', 'ingress-nginx static-nginx'],
    [zap, 'shop', 'payment shipping pricing'],
    [logback, 'shop', 'catalog search orders'],
    [klog, 'kube-system', 'kube-scheduler kube-proxy node-problem-detector'],
    [logfmt, 'monitoring', 'prometheus loki alertmanager'],
    [java, 'billing', 'invoices ledger reports'],
    [plain, 'data', 'redis postgres importer'],
  ] as const
).flatMap(([write, namespace, apps]) => apps.split(' ').map((app) => ({ app, namespace, write })));
