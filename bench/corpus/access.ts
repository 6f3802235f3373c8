import { clockOf } from './clock.ts';
import { Draw, zipf } from './random.ts';
import { WORDS } from './words.ts';

const VERBS = ['GET', 'GET', 'GET', 'GET', 'GET', 'GET', 'POST', 'POST', 'PUT', 'DELETE'];
const STATUSES = [200, 200, 200, 200, 200, 200, 200, 200, 304, 304, 301, 302, 404, 404, 403, 500];
const AGENTS = ['Firefox/140.0', 'Chrome/141.0.0.0 Safari/537.36', 'Version/18.1 Safari/605.1.15'];
const SYSTEMS = [
  'X11; Linux x86_64',
  'Windows NT 10.0; Win64; x64',
  'Macintosh; Intel Mac OS X 14_6',
];

/**
 * Makes access-log events as one well-kept web server writes them in JSON: the attributes of INTERFACE.md 11 with
 * dotted names in one order, about 465 bytes. Addresses: 500,000, Zipf 0.9; URLs: 50,000, Zipf 1.05, a third of the
 * requests with a number of their own in the query; response times and sizes lognormal.
 */
export function accessLog(seed: number): () => string {
  const draw = new Draw(seed);
  const address = zipf(
    Array.from(
      { length: 500_000 },
      () => `${1 + draw.below(223)}.${draw.below(256)}.${draw.below(256)}.${draw.below(256)}`,
    ),
    0.9,
    draw.next,
  );
  const url = zipf(
    Array.from(
      { length: 50_000 },
      () => `/${draw.pick(WORDS)}/${draw.pick(WORDS)}/${draw.below(100_000)}`,
    ),
    1.05,
    draw.next,
  );
  const agent = zipf(
    Array.from(
      { length: 300 },
      () => `Mozilla/5.0 (${draw.pick(SYSTEMS)}; rv:${draw.below(100)}) ${draw.pick(AGENTS)}`,
    ),
    1,
    draw.next,
  );
  const clock = clockOf(draw);
  return () => {
    const date = new Date(clock()).toISOString();
    const verb = draw.pick(VERBS);
    const request = draw.next() < 0.34 ? `${url()}?session=${draw.below(1e9)}` : url();
    const status = draw.pick(STATUSES);
    const bytes = Math.round(draw.lognormal(8, 1.5));
    const seconds = draw.lognormal(-3, 1).toFixed(3);
    return `{"@marker":["nginx","access"],"date_access":"${date}","network.client_ip":"${address()}","network.bytes_write":${bytes},"http.ident":"web-${draw.below(20)}","http.response_time":${seconds},"http.status_code":${status},"http.request":"${request}","http.verb":"${verb}","http.referer":"https://shop.example${url()}","http.useragent":"${agent()}","message":"${verb} ${request} HTTP/1.1"}`;
  };
}
