/** A program that sends logs, and what it needs to send them here. */
export interface Sender {
  readonly id: string;
  readonly name: string;
  /** The file or the place where the text goes. */
  readonly where: string;
  readonly text: (to: Destination) => string;
}

/** The service as senders reach it. */
export interface Destination {
  readonly host: string;
  /** `http://host:port` of this page. */
  readonly base: string;
  readonly key: string;
}

const TCP_PORT = 10514;

/** The senders that are shown. Each is a configuration that takes all of a machine's logs of its kind. */
export const SENDERS: readonly Sender[] = [
  {
    ...{ id: 'curl', name: 'curl', where: 'A shell' },
    text: ({ base, key }) =>
      `curl -H 'Content-Type: text/plain' \\\n  --data 'This is my first line of log' \\\n  ${base}/v1/input/${key}`,
  },
  {
    ...{ id: 'rsyslog', name: 'rsyslog', where: '/etc/rsyslog.d/logseam.conf' },
    text: ({ host, key }) =>
      `template(name="logseam" type="string"
  string="${key} <%pri%>%protocol-version% %timestamp:::date-rfc3339% %HOSTNAME% %app-name% %procid% %msgid% %structured-data% %msg%\\n")
action(type="omfwd" target="${host}" port="${TCP_PORT}" protocol="tcp" template="logseam"
  TCP_Framing="traditional" action.resumeRetryCount="-1"
  queue.type="LinkedList" queue.filename="logseam" queue.maxDiskSpace="1g" queue.saveOnShutdown="on")`,
  },
  {
    ...{ id: 'syslog-ng', name: 'syslog-ng', where: '/etc/syslog-ng/conf.d/logseam.conf' },
    text: ({ host, key }) =>
      `destination d_logseam {
  network("${host}" port(${TCP_PORT}) transport("tcp")
    template("${key} <\${PRI}>1 \${ISODATE} \${HOST} \${PROGRAM} \${PID} \${MSGID} \${SDATA} \${MSG}\\n"));
};
log { source(s_src); destination(d_logseam); };`,
  },
  {
    ...{ id: 'vector', name: 'Vector', where: '/etc/vector/vector.yaml' },
    text: ({ base, key }) =>
      `sinks:
  logseam:
    type: http
    inputs: [your_source]
    uri: ${base}/v1/input/${key}
    encoding:
      codec: json
    compression: gzip`,
  },
  {
    ...{ id: 'fluent-bit', name: 'Fluent Bit', where: '/etc/fluent-bit/fluent-bit.conf' },
    text: ({ base, host, key }) =>
      `[OUTPUT]
    Name        http
    Match       *
    Host        ${host}
    Port        ${portOf(base)}
    URI         /v1/input/${key}
    Format      json
    Json_date_key    date
    Json_date_format iso8601
    Compress    gzip`,
  },
  {
    ...{
      id: 'docker',
      name: 'Docker',
      where: 'A container; the listener is bound to the key, see the settings of the service',
    },
    text: ({ host, key }) =>
      `# logseam.toml
[[listener]]
protocol = "tcp"
address = "0.0.0.0:5514"
key = "${key === PLACEHOLDER ? 'NAME_OF_THE_KEY' : 'default'}"

# each container
docker run --log-driver syslog \\
  --log-opt syslog-address=tcp://${host}:5514 \\
  --log-opt syslog-format=rfc5424micro --log-opt tag="{{.Name}}" IMAGE`,
  },
  {
    ...{
      id: 'nginx',
      name: 'nginx',
      where: '/etc/nginx/nginx.conf, and rsyslog or a listener bound to the key',
    },
    text: ({ host }) =>
      `log_format logseam escape=json '{"date":"$time_iso8601","message":"$request",'
  '"http":{"method":"$request_method","url":"$request_uri","status_code":$status,"referer":"$http_referer","useragent":"$http_user_agent"},'
  '"bytes":$bytes_sent,"duration":$request_time,"network":{"client":{"ip":"$remote_addr"}}}';
access_log syslog:server=${host}:5514,tag=nginx logseam;`,
  },
  {
    ...{ id: 'journald', name: 'journald', where: 'A shell, or a unit of systemd' },
    text: ({ base, key }) =>
      `journalctl -f -o json | while read -r line; do
  printf '%s\\n' "$line"
done | curl -sS -T - -H 'Content-Type: application/json' ${base}/v1/input/${key}`,
  },
  {
    ...{ id: 'pino', name: 'Node.js pino', where: 'npm install pino' },
    text: ({ host, key }) =>
      `import net from 'node:net';
import { pino } from 'pino';

const socket = net.connect(${TCP_PORT}, '${host}');
const log = pino({
  base: { service: 'shop' },
  messageKey: 'message',
  timestamp: () => \`,"date":"\${new Date().toISOString()}"\`,
  formatters: { level: (level) => ({ level }) },
}, { write: (line) => socket.write('${key} ' + line) });

log.info({ order: 42 }, 'order placed');`,
  },
  {
    ...{ id: 'winston', name: 'Node.js winston', where: 'npm install winston' },
    text: ({ base, host, key }) =>
      `import winston from 'winston';

const log = winston.createLogger({
  format: winston.format.combine(winston.format.timestamp(), winston.format.json()),
  transports: [new winston.transports.Http({
    host: '${host}', port: ${portOf(base)}, path: '/v1/input/${key}',
  })],
});

log.info('order placed', { order: 42 });`,
  },
  {
    ...{ id: 'python', name: 'Python logging', where: 'The program' },
    text: ({ host, key }) =>
      `import json, logging, logging.handlers

class Logseam(logging.handlers.SocketHandler):
    def makePickle(self, record):
        event = {"date": record.created * 1000, "level": record.levelname,
                 "logger": record.name, "message": record.getMessage()}
        if record.exc_info:
            event["exception"] = logging.Formatter().formatException(record.exc_info)
        return ("${key} " + json.dumps(event) + "\\n").encode()

logging.getLogger().addHandler(Logseam("${host}", ${TCP_PORT}))
logging.getLogger("shop").warning("order placed")`,
  },
];

/** Text in place of a key that is not known. */
export const PLACEHOLDER = 'YOUR_WRITE_KEY';

function portOf(base: string): string {
  const { port, protocol } = new URL(base);
  return port === '' ? (protocol === 'https:' ? '443' : '80') : port;
}
