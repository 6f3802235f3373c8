import t, { type Test } from 'tap';
import { checkGrok, GrokExtractor } from '../../server/extend/grok.ts';
import {
  APACHE_ERROR_HELPERS,
  APACHE_ERROR_RULES,
  HAPROXY_HELPERS,
  HAPROXY_RULES,
  KUBERNETES_RULES,
  NGINX_ERROR_HELPERS,
  NGINX_ERROR_RULES,
  POSTGRESQL_HELPERS,
  POSTGRESQL_RULES,
} from '../../server/registry/extension-presets.ts';
import { attributesText } from '../support/attributes-text.ts';

function check(t: Test, rules: string, helperRules: string, table: [string, string][]): void {
  checkGrok(rules, helperRules);
  const extractor = new GrokExtractor(rules, helperRules);
  for (const [line, expected] of table) {
    const found = extractor.extract(line);
    t.equal(`${found?.rule} ${attributesText(found?.attributes)}`, expected, line);
  }
}

/** Source: nginx, ngx_http_upstream.c, ngx_http_limit_req_module.c and others, as their messages stand in error.log. */
const NGINX_LINES: [string, string][] = [
  [
    '2024/04/27 14:35:22 [error] 12345#0: *678901 upstream timed out (110: Connection timed out) while reading response header from upstream, client: 192.168.1.10, server: example.com, request: "GET /api/data HTTP/1.1", upstream: "http://127.0.0.1:8080/api/data", host: "example.com"',
    'nginx_error_request {"timestamp":1714228522000,"level":"error","process.pid":12345,"process.thread_id":0,"network.connection_id":678901,"error.message":"upstream timed out (110: Connection timed out) while reading response header from upstream","network.client_ip":"192.168.1.10","http.server_name":"example.com","http.verb":"GET","http.request":"/api/data","http.version":"1.1","http.upstream":"http://127.0.0.1:8080/api/data","http.host":"example.com"}',
  ],
  [
    '2016/11/21 12:28:01 [error] 2106#2106: *1 open() "/usr/share/nginx/html/favicon.ico" failed (2: No such file or directory), client: 172.17.0.1, server: localhost, request: "GET /favicon.ico HTTP/1.1", host: "localhost:8080", referrer: "http://localhost:8080/"',
    'nginx_error_request {"timestamp":1479731281000,"level":"error","process.pid":2106,"process.thread_id":2106,"network.connection_id":1,"error.message":"open() \\"/usr/share/nginx/html/favicon.ico\\" failed (2: No such file or directory)","network.client_ip":"172.17.0.1","http.server_name":"localhost","http.verb":"GET","http.request":"/favicon.ico","http.version":"1.1","http.host":"localhost:8080","http.referer":"http://localhost:8080/"}',
  ],
  [
    '2016/11/21 12:28:01 [notice] 1#1: signal 15 (SIGTERM) received from 1, exiting',
    'nginx_error {"timestamp":1479731281000,"level":"notice","process.pid":1,"process.thread_id":1,"error.message":"signal 15 (SIGTERM) received from 1, exiting"}',
  ],
  [
    '2016/11/21 12:28:01 [error] 7#7: *10 limiting requests, excess: 20.100 by zone "one", client: 10.0.0.1, server: , request: "GET / HTTP/1.0"',
    'nginx_error_request {"timestamp":1479731281000,"level":"error","process.pid":7,"process.thread_id":7,"network.connection_id":10,"error.message":"limiting requests, excess: 20.100 by zone \\"one\\"","network.client_ip":"10.0.0.1","http.verb":"GET","http.request":"/","http.version":"1.0"}',
  ],
  [
    '2016/11/21 12:28:01 [info] 7#7: *11 client sent invalid request while reading client request line, client: ::1, server: localhost, request: "\\x16\\x03\\x01"',
    'nginx_error_request {"timestamp":1479731281000,"level":"info","process.pid":7,"process.thread_id":7,"network.connection_id":11,"error.message":"client sent invalid request while reading client request line","network.client_ip":"::1","http.server_name":"localhost"}',
  ],
  [
    '2016/11/21 12:28:01 [emerg] 99#0: bind() to 0.0.0.0:80 failed (98: Address already in use)',
    'nginx_error {"timestamp":1479731281000,"level":"emerg","process.pid":99,"process.thread_id":0,"error.message":"bind() to 0.0.0.0:80 failed (98: Address already in use)"}',
  ],
];

/** Source: Apache HTTP Server documentation, "Log Files" and "ErrorLogFormat"; OSSEC, "Log Samples from Apache". */
const APACHE_LINES: [string, string][] = [
  [
    '[Fri Sep 09 10:42:29.902022 2011] [core:error] [pid 35708:tid 4328636416] [client 72.15.99.187] File does not exist: /usr/local/apache2/htdocs/favicon.ico',
    'apache_error_24 {"timestamp":1315564949902,"logger.name":"core","level":"error","process.pid":35708,"process.thread_id":4328636416,"network.client_ip":"72.15.99.187","error.message":"File does not exist: /usr/local/apache2/htdocs/favicon.ico"}',
  ],
  [
    '[Thu May 12 08:28:57.652118 2011] [core:error] [pid 8777:tid 4326490112] [client ::1:58619] File does not exist: /usr/local/apache2/htdocs/favicon.ico',
    'apache_error_24 {"timestamp":1305188937652,"logger.name":"core","level":"error","process.pid":8777,"process.thread_id":4326490112,"network.client_ip":"::1","network.client_port":58619,"error.message":"File does not exist: /usr/local/apache2/htdocs/favicon.ico"}',
  ],
  [
    '[Tue Sep 26 13:27:37.665809 2017] [mpm_prefork:notice] [pid 1163] AH00163: Apache/2.4.18 (Ubuntu) configured -- resuming normal operations',
    'apache_error_24 {"timestamp":1506432457665,"logger.name":"mpm_prefork","level":"notice","process.pid":1163,"error.kind":"AH00163","error.message":"Apache/2.4.18 (Ubuntu) configured -- resuming normal operations"}',
  ],
  [
    '[Mon Dec 23 07:49:01.981912 2013] [:error] [pid 3790] (13)Permission denied: [client 10.0.0.7:50612] AH00035: access to /index.html denied, referer: http://example.com/a',
    'apache_error_24 {"timestamp":1387784941981,"level":"error","process.pid":3790,"error.code":13,"network.client_ip":"10.0.0.7","network.client_port":50612,"error.kind":"AH00035","error.message":"access to /index.html denied","http.referer":"http://example.com/a"}',
  ],
  [
    '[Wed Oct 11 14:32:52 2000] [error] [client 127.0.0.1] client denied by server configuration: /export/home/live/ap/htdocs/test',
    'apache_error_22 {"timestamp":971274772000,"level":"error","network.client_ip":"127.0.0.1","error.message":"client denied by server configuration: /export/home/live/ap/htdocs/test"}',
  ],
  [
    '[Mon Dec 19 23:02:01 2005] [error] [client 1.2.3.4] user test: authentication failure for "/~dcid/test1": Password Mismatch',
    'apache_error_22 {"timestamp":1135033321000,"level":"error","network.client_ip":"1.2.3.4","error.message":"user test: authentication failure for \\"/~dcid/test1\\": Password Mismatch"}',
  ],
  [
    '[Sun Nov  6 04:02:13 2005] [notice] Digest: generating secret for digest authentication ...',
    'apache_error_22 {"timestamp":1131249733000,"level":"notice","error.message":"Digest: generating secret for digest authentication ..."}',
  ],
];

/** Source: HAProxy configuration manual, sections 8.2.1 to 8.2.5. */
const HAPROXY_LINES: [string, string][] = [
  [
    '10.0.1.2:33317 [06/Feb/2009:12:14:14.655] http-in static/srv1 10/0/30/69/109 200 2750 - - ---- 1/1/1/1/0 0/0 {1wt.eu} {} "GET /index.html HTTP/1.1"',
    'haproxy_http {"network.client_ip":"10.0.1.2","network.client_port":33317,"timestamp":1233922454655,"haproxy.frontend":"http-in","haproxy.backend":"static","haproxy.server":"srv1","haproxy.time.request":10,"haproxy.time.queue":0,"haproxy.time.connect":30,"haproxy.time.response":69,"duration":109,"http.status_code":200,"network.bytes_write":2750,"haproxy.termination_state":"----","haproxy.connections.active":1,"haproxy.connections.frontend":1,"haproxy.connections.backend":1,"haproxy.connections.server":1,"haproxy.retries":0,"haproxy.queue.server":0,"haproxy.queue.backend":0,"haproxy.request_headers":"1wt.eu","http.verb":"GET","http.request":"/index.html","http.version":"1.1"}',
  ],
  [
    '10.0.1.2:33313 [06/Feb/2009:12:12:51.443] fnt bck/srv1 0/0/5007 212 -- 0/0/0/0/3 0/0',
    'haproxy_tcp {"network.client_ip":"10.0.1.2","network.client_port":33313,"timestamp":1233922371443,"haproxy.frontend":"fnt","haproxy.backend":"bck","haproxy.server":"srv1","haproxy.time.queue":0,"haproxy.time.connect":0,"duration":5007,"network.bytes_write":212,"haproxy.termination_state":"--","haproxy.connections.active":0,"haproxy.connections.frontend":0,"haproxy.connections.backend":0,"haproxy.connections.server":0,"haproxy.retries":3,"haproxy.queue.server":0,"haproxy.queue.backend":0}',
  ],
  [
    'Connect from 10.0.1.2:33312 to 10.0.3.31:8012 (www/HTTP)',
    'haproxy_connect {"network.client_ip":"10.0.1.2","network.client_port":33312,"network.destination_ip":"10.0.3.31","network.destination_port":8012,"haproxy.frontend":"www","haproxy.mode":"HTTP"}',
  ],
  [
    '127.0.0.1:56059 [03/Dec/2012:17:35:10.380] frt/f1: Connection error during SSL handshake',
    'haproxy_error {"network.client_ip":"127.0.0.1","network.client_port":56059,"timestamp":1354556110380,"haproxy.frontend":"frt","haproxy.listener":"f1","error.message":"Connection error during SSL handshake"}',
  ],
  [
    '2001:db8::7:51234 [15/Dec/2015:17:36:50.001] https~ app/<NOSRV> -1/-1/-1/-1/0 400 187 - - PR-- 5/5/0/0/0 0/0 "<BADREQ>"',
    'haproxy_http_ipv6 {"network.client_ip":"2001:db8::7","network.client_port":51234,"timestamp":1450201010001,"haproxy.frontend":"https~","haproxy.backend":"app","haproxy.server":"<NOSRV>","haproxy.time.request":-1,"haproxy.time.queue":-1,"haproxy.time.connect":-1,"haproxy.time.response":-1,"duration":0,"http.status_code":400,"network.bytes_write":187,"haproxy.termination_state":"PR--","haproxy.connections.active":5,"haproxy.connections.frontend":5,"haproxy.connections.backend":0,"haproxy.connections.server":0,"haproxy.retries":0,"haproxy.queue.server":0,"haproxy.queue.backend":0}',
  ],
  [
    '10.1.2.3:4000 [15/Dec/2015:17:36:50.001] www www/web2 0/0/1/+12/+13 302 +145 SID=1 - --VN 9/9/1/1/+1 0/0 "POST /login?x=1 HTTP/1.1"',
    'haproxy_http {"network.client_ip":"10.1.2.3","network.client_port":4000,"timestamp":1450201010001,"haproxy.frontend":"www","haproxy.backend":"www","haproxy.server":"web2","haproxy.time.request":0,"haproxy.time.queue":0,"haproxy.time.connect":1,"haproxy.time.response":12,"duration":13,"http.status_code":302,"network.bytes_write":145,"haproxy.request_cookie":"SID=1","haproxy.termination_state":"--VN","haproxy.connections.active":9,"haproxy.connections.frontend":9,"haproxy.connections.backend":1,"haproxy.connections.server":1,"haproxy.retries":1,"haproxy.queue.server":0,"haproxy.queue.backend":0,"http.verb":"POST","http.request":"/login?x=1","http.version":"1.1"}',
  ],
];

/** Source: PostgreSQL documentation, "Error Reporting and Logging"; pgBadger. */
const PG_LINES: [string, string][] = [
  [
    '2016-12-12 14:32:52.123 UTC [12345] LOG:  database system is ready to accept connections',
    'postgresql_line {"timestamp":1481553172123,"process.pid":12345,"level":"LOG"}',
  ],
  [
    '2016-12-12 14:32:52.123 UTC [12345] LOG:  duration: 12.300 ms  statement: SELECT count(*) FROM users;',
    'postgresql_duration {"timestamp":1481553172123,"process.pid":12345,"level":"LOG","duration":12.300,"db.statement":"SELECT count(*) FROM users;"}',
  ],
  [
    '2017-10-05 12:34:56.789 CEST [1234] postgres@app ERROR:  relation "x" does not exist at character 15',
    'postgresql_error {"timestamp":1507199696789,"process.pid":1234,"db.user":"postgres","db.instance":"app","level":"ERROR","error.message":"relation \\"x\\" does not exist at character 15"}',
  ],
  [
    '2017-10-05 12:34:56.789 CEST [1234] postgres@app STATEMENT:  SELECT * FROM x',
    'postgresql_failed_statement {"timestamp":1507199696789,"process.pid":1234,"db.user":"postgres","db.instance":"app","level":"STATEMENT","db.statement":"SELECT * FROM x"}',
  ],
  [
    '2017-10-05 12:34:56 UTC [1234]: [3-1] user=web,db=shop,app=psql,client=10.0.0.9 LOG:  duration: 250.5 ms  execute <unnamed>: UPDATE t SET a = $1\n\tWHERE id = 3',
    'postgresql_duration {"timestamp":1507206896000,"process.pid":1234,"db.user":"web","db.instance":"shop","db.application":"psql","network.client_ip":"10.0.0.9","level":"LOG","duration":250.5,"db.statement":"UPDATE t SET a = $1\\n\\tWHERE id = 3"}',
  ],
  [
    '2017-10-05 12:34:56.789 UTC [1234] [unknown]@[unknown] LOG:  connection received: host=10.0.0.9 port=5000',
    'postgresql_line {"timestamp":1507206896789,"process.pid":1234,"db.user":"[unknown]","db.instance":"[unknown]","level":"LOG"}',
  ],
  [
    '2017-10-05 12:34:56.789 UTC [77] web@shop FATAL:  password authentication failed for user "web"',
    'postgresql_error {"timestamp":1507206896789,"process.pid":77,"db.user":"web","db.instance":"shop","level":"FATAL","error.message":"password authentication failed for user \\"web\\""}',
  ],
  [
    '2017-10-05 12:34:56.789 UTC [77] web@shop LOG:  duration: 3.001 ms',
    'postgresql_duration {"timestamp":1507206896789,"process.pid":77,"db.user":"web","db.instance":"shop","level":"LOG","duration":3.001}',
  ],
];

/** Source: Kubernetes, "CRI: Log management for container stdout/stderr streams"; Grafana, "cri" stage. */
const CRI_LINES: [string, string][] = [
  [
    '2016-10-06T00:17:09.669794202Z stdout F The content of the log entry 1',
    'cri_line {"timestamp":"2016-10-06T00:17:09.669794202Z","stream":"stdout","logtag":"F","message":"The content of the log entry 1"}',
  ],
  [
    '2016-10-06T00:17:09.669794202Z stdout P First line of log entry 2',
    'cri_line {"timestamp":"2016-10-06T00:17:09.669794202Z","stream":"stdout","logtag":"P","message":"First line of log entry 2"}',
  ],
  [
    '2016-10-06T00:17:10.113242941Z stderr F Last line of the log entry 2',
    'cri_line {"timestamp":"2016-10-06T00:17:10.113242941Z","stream":"stderr","logtag":"F","message":"Last line of the log entry 2"}',
  ],
  [
    '2019-04-30T02:12:41.8443515+02:00 stdout F message',
    'cri_line {"timestamp":"2019-04-30T02:12:41.8443515+02:00","stream":"stdout","logtag":"F","message":"message"}',
  ],
  [
    '2019-04-30T02:12:41.8443515+02:00 stdout F ',
    'cri_line {"timestamp":"2019-04-30T02:12:41.8443515+02:00","stream":"stdout","logtag":"F","message":""}',
  ],
];

t.test('the error log of nginx: each line gives its parts', async (t) => {
  check(t, NGINX_ERROR_RULES, NGINX_ERROR_HELPERS, NGINX_LINES);
});

t.test('the error log of Apache: each line gives its parts', async (t) => {
  check(t, APACHE_ERROR_RULES, APACHE_ERROR_HELPERS, APACHE_LINES);
});

t.test(
  'the HTTP, TCP, error and connection log of HAProxy: each line gives its parts',
  async (t) => {
    check(t, HAPROXY_RULES, HAPROXY_HELPERS, HAPROXY_LINES);
  },
);

t.test('the log of PostgreSQL: each line gives its parts', async (t) => {
  check(t, POSTGRESQL_RULES, POSTGRESQL_HELPERS, PG_LINES);
});

t.test("lines of Kubernetes' containers: each line gives its parts", async (t) => {
  check(t, KUBERNETES_RULES, '', CRI_LINES);
});

t.test('a line of another program is left alone', async (t) => {
  const sets: [string, string][] = [
    [NGINX_ERROR_RULES, NGINX_ERROR_HELPERS],
    [APACHE_ERROR_RULES, APACHE_ERROR_HELPERS],
    [HAPROXY_RULES, HAPROXY_HELPERS],
    [POSTGRESQL_RULES, POSTGRESQL_HELPERS],
    [KUBERNETES_RULES, ''],
  ];
  const tables = [NGINX_LINES, APACHE_LINES, HAPROXY_LINES, PG_LINES, CRI_LINES];
  for (const [index, [rules, helperRules]] of sets.entries()) {
    const extractor = new GrokExtractor(rules, helperRules);
    const others = tables.flatMap((table, place) => (place === index ? [] : table));
    for (const [line] of others) t.equal(extractor.extract(line), undefined, line);
  }
});
