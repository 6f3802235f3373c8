/**
 * Rules (INTERFACE.md 11) for the logs of programs that many run. Dates without a zone are read as UTC. `level` is a
 * source of the severity extension. Whoever has a format of their own copies a rule and changes it.
 */

/**
 * Error log of nginx. What the request was stands behind the message.
 * Source: nginx, ngx_log_error_core and ngx_http_log_error_handler.
 */
export const NGINX_ERROR_RULES = `
nginx_error_request %{nginx_head}%{regex(".*?"):error.message}, client: %{regex("[^,]+"):network.client_ip}(, server: %{regex("[^,]*"):http.server_name:nullIf("")})?(, request: "%{nginx_request}")?(, subrequest: "[^"]*")?(, upstream: "%{regex('[^"]*'):http.upstream}")?(, host: "%{regex('[^"]*'):http.host}")?(, referrer: "%{regex('[^"]*'):http.referer}")?
nginx_error %{nginx_head}%{data:error.message}
`;

/** Common part of NGINX_ERROR_RULES. */
export const NGINX_ERROR_HELPERS = String.raw`
nginx_head %{date("yyyy/MM/dd HH:mm:ss"):timestamp} \[%{word:level}\] %{integer:process.pid}#%{integer:process.thread_id}: (\*%{integer:network.connection_id} )?
nginx_request (%{word:http.verb} %{notSpace:http.request} HTTP/%{regex("[0-9.]+"):http.version}|[^"]*)
`;

/** Error log of Apache, 2.4 and 2.2. Source: Apache HTTP Server, ErrorLogFormat and log.c. */
export const APACHE_ERROR_RULES = String.raw`
apache_error_24 \[%{date("EEE MMM dd HH:mm:ss.SSSSSS yyyy"):timestamp}\] \[%{regex("[\w\-]*"):logger.name:nullIf("")}:%{word:level}\] \[pid %{integer:process.pid}(:tid %{integer:process.thread_id})?\] ([\w\-./]+\([0-9]+\): )?(\(%{integer:error.code}\)[^\[]*: )?(\[client (%{ipv4:network.client_ip}(:%{port:network.client_port})?|%{regex("[^\]]+"):network.client_ip}:%{port:network.client_port})\] )?(%{regex("AH[0-9]+"):error.kind}: )?%{apache_message}
apache_error_22 \[%{date("EEE MMM dd HH:mm:ss yyyy"):timestamp}\] \[%{word:level}\] (\(%{integer:error.code}\)[^\[]*: )?(\[client %{regex("[^\]]+"):network.client_ip}\] )?%{apache_message}
`;

/** Common part of APACHE_ERROR_RULES. */
export const APACHE_ERROR_HELPERS = `
apache_message %{regex(".*?"):error.message}(, referer: %{notSpace:http.referer})?
`;

/**
 * HTTP, TCP, connection and error log of HAProxy, without the header of syslog. Times are milliseconds, -1 when
 * something ended before. The second rule of a pair is for IPv6, whose addresses have colons.
 * Source: HAProxy configuration manual, sections 8.2.1 to 8.2.5.
 */
export const HAPROXY_RULES = String.raw`
haproxy_http %{regex("[^: ]+"):network.client_ip}%{haproxy_http_rest}
haproxy_http_ipv6 %{notSpace:network.client_ip}%{haproxy_http_rest}
haproxy_tcp %{regex("[^: ]+"):network.client_ip}%{haproxy_tcp_rest}
haproxy_tcp_ipv6 %{notSpace:network.client_ip}%{haproxy_tcp_rest}
haproxy_error %{notSpace:network.client_ip}:%{port:network.client_port} %{haproxy_date} %{regex("[^/ ]+"):haproxy.frontend}/%{regex("[^ ]+"):haproxy.listener}: %{data:error.message}
haproxy_connect Connect from %{notSpace:network.client_ip}:%{port:network.client_port} to %{notSpace:network.destination_ip}:%{port:network.destination_port} \(%{regex("[^/]+"):haproxy.frontend}/%{word:haproxy.mode}\)
`;

/** Common part of HAPROXY_RULES. */
export const HAPROXY_HELPERS = String.raw`
haproxy_date \[%{date("dd/MMM/yyyy:HH:mm:ss.SSS"):timestamp}\]
haproxy_route :%{port:network.client_port} %{haproxy_date} %{notSpace:haproxy.frontend} %{regex("[^/ ]+"):haproxy.backend}/%{notSpace:haproxy.server}
haproxy_load %{integer:haproxy.connections.active}/%{integer:haproxy.connections.frontend}/%{integer:haproxy.connections.backend}/%{integer:haproxy.connections.server}/%{integer:haproxy.retries} %{integer:haproxy.queue.server}/%{integer:haproxy.queue.backend}
haproxy_request (%{regex("[^ <\"]+"):http.verb} %{regex("[^ \"]+"):http.request}( HTTP/%{regex("[0-9.]+"):http.version})?|<BADREQ>)
haproxy_http_rest %{haproxy_route} %{integer:haproxy.time.request}/%{integer:haproxy.time.queue}/%{integer:haproxy.time.connect}/%{integer:haproxy.time.response}/%{integer:duration} %{integer:http.status_code} %{integer:network.bytes_write} %{notSpace:haproxy.request_cookie:nullIf("-")} %{notSpace:haproxy.response_cookie:nullIf("-")} %{notSpace:haproxy.termination_state} %{haproxy_load} (\{%{regex("[^}]*"):haproxy.request_headers:nullIf("")}\} (\{%{regex("[^}]*"):haproxy.response_headers:nullIf("")}\} )?)?"%{haproxy_request}"
haproxy_tcp_rest %{haproxy_route} %{integer:haproxy.time.queue}/%{integer:haproxy.time.connect}/%{integer:duration} %{integer:network.bytes_write} %{notSpace:haproxy.termination_state} %{haproxy_load}
`;

/**
 * Log of PostgreSQL with the prefix %m [%p], with the user and the database behind it, and with names before them.
 * Source: PostgreSQL documentation, "Error Reporting and Logging"; the postgresql.conf of Debian; pgBadger.
 */
export const POSTGRESQL_RULES = `
postgresql_duration %{postgresql_prefix}%{word:level}:  duration: %{number:duration} ms(  (statement|(parse|bind|execute|fetch)[^:]*): %{data:db.statement})?
postgresql_statement %{postgresql_prefix}%{regex("LOG"):level}:  (statement: |execute [^:]*: )%{data:db.statement}
postgresql_failed_statement %{postgresql_prefix}%{regex("STATEMENT"):level}:  %{data:db.statement}
postgresql_error %{postgresql_prefix}%{regex("ERROR|FATAL|PANIC|WARNING"):level}:  (%{regex("[0-9A-Z]{5}"):error.code}: )?%{data:error.message}
postgresql_line %{postgresql_prefix}%{regex("[A-Z]+[1-5]?"):level}:  %{data}
`;

/** Common part of POSTGRESQL_RULES. */
export const POSTGRESQL_HELPERS = String.raw`
postgresql_date (%{date("yyyy-MM-dd HH:mm:ss.SSS z"):timestamp}|%{date("yyyy-MM-dd HH:mm:ss z"):timestamp})
postgresql_prefix %{postgresql_date} \[%{integer:process.pid}(-[0-9]+)?\]:? (\[[0-9]+-[0-9]+\] )?(user=%{regex("[^, ]*"):db.user:nullIf("")},db=%{regex("[^, ]*"):db.instance:nullIf("")}(,app=%{regex("[^,]*"):db.application:nullIf("")})?(,client=%{regex("[^, ]*"):network.client_ip:nullIf("")})? |%{regex("[^@ =]+"):db.user}@%{notSpace:db.instance} )?
`;

/**
 * A line of a container as Kubernetes writes it; the text becomes the event's message, and "logtag" is P when the line
 * goes on in the next one. Source: Kubernetes, "CRI: Log management for container stdout/stderr streams".
 */
export const KUBERNETES_RULES = String.raw`
cri_line %{regex("[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+(?:Z|[+\-][0-9:]+)"):timestamp} %{regex("std(?:out|err)"):stream} %{regex("[A-Z:]+"):logtag} %{data:message}
`;

/**
 * Lines of Python's logging in its usual formats; the text becomes the event's message. Source: Python documentation,
 * "Logging HOWTO" and logging.BASIC_FORMAT.
 */
export const PYTHON_RULES = String.raw`
python_line %{date("yyyy-MM-dd HH:mm:ss,SSS"):timestamp} - %{notSpace:logger.name} - %{word:level} - %{data:message}
python_basic %{regex("DEBUG|INFO|WARNING|ERROR|CRITICAL"):level}:%{regex("[^:\s]+"):logger.name}:%{data:message}
`;
