import { agent } from '../bench/corpus/agents.ts';
import { type Draw, zipfRank } from '../bench/corpus/random.ts';
import { type DemoEvent, jsonEvent } from './event.ts';
import type { Incident } from './incident.ts';

const USERS = 4_000;
const ADDRESSES = 9_000;
const AGENTS = 300;
const WEB_HOSTS = ['web-1', 'web-2', 'web-3'];
const PRODUCTS = 'teapot lamp notebook chair bicycle backpack kettle desk scarf radio'.split(' ');
const CURRENCIES = ['EUR', 'EUR', 'EUR', 'USD', 'GBP', 'CHF'];
/** Pages and how often they are asked for, of a hundred. */
const PAGES: readonly [path: string, weight: number][] = [
  ['/', 22],
  ['/search', 20],
  ['/product', 34],
  ['/cart', 12],
  ['/checkout', 6],
  ['/login', 4],
  ['/robots.txt', 2],
];
const TIMEOUT_MS = 5_000;

/** A request of a visitor on its way through the shop. */
interface Visit {
  timeMs: number;
  traceId: string;
  userId: string;
  path: string;
  /** Milliseconds that the services took so far. */
  tookMs: number;
  status: number;
}

/** Visitors of a shop: what the web servers and the services behind them write about each request. */
export class Visitors {
  readonly #draw: Draw;
  readonly #incident: Incident;
  readonly #user: () => number;
  readonly #address: () => number;
  readonly #agent: () => number;

  constructor(draw: Draw, incident: Incident) {
    this.#draw = draw;
    this.#incident = incident;
    this.#user = zipfRank(USERS, 0.6, draw.next);
    this.#address = zipfRank(ADDRESSES, 0.7, draw.next);
    this.#agent = zipfRank(AGENTS, 1, draw.next);
  }

  /** The events of one request at `timeMs`, those of the services first. */
  request(timeMs: number): DemoEvent[] {
    const draw = this.#draw;
    const visit: Visit = {
      ...{ timeMs, path: this.#page(), status: 200 },
      traceId: draw.hex(32),
      userId: `u${this.#user()}`,
      tookMs: draw.lognormal(3, 0.5),
    };
    const events = this.#services(visit);
    events.push(this.#access(visit));
    return events;
  }

  #page(): string {
    let left = this.#draw.below(100);
    for (const [path, weight] of PAGES) {
      left -= weight;
      if (left < 0) return path;
    }
    return '/';
  }

  #services(visit: Visit): DemoEvent[] {
    const draw = this.#draw;
    switch (visit.path) {
      case '/search': {
        const hits = draw.below(60);
        return [this.#log(visit, 'search', 'info', `search found ${hits} products`, { hits })];
      }
      case '/product': {
        const product = draw.pick(PRODUCTS);
        visit.path = `/product/${product}-${draw.below(40)}`;
        if (!draw.chance(0.03)) return [];
        visit.status = 404;
        return [this.#log(visit, 'catalog', 'warn', `product ${product} is not sold any more`)];
      }
      case '/cart': {
        const items = 1 + draw.below(5);
        return [this.#log(visit, 'cart', 'info', `cart has ${items} items`, { items })];
      }
      case '/login': {
        const isWrong = draw.chance(0.2);
        visit.status = isWrong ? 401 : 200;
        const what = isWrong ? 'login failed: wrong password' : 'login succeeded';
        return [this.#log(visit, 'account', isWrong ? 'warn' : 'info', what)];
      }
      case '/checkout':
        return this.#checkout(visit);
      default:
        if (draw.chance(0.001)) visit.status = 500;
        return [];
    }
  }

  #checkout(visit: Visit): DemoEvent[] {
    const draw = this.#draw;
    const amount = Number(draw.lognormal(3.6, 0.8).toFixed(2));
    const order = { id: `o-${draw.hex(8)}`, amount, currency: draw.pick(CURRENCIES) };
    const events = [this.#log(visit, 'checkout', 'info', `checkout of ${order.id}`, { order })];
    const severity = this.#incident.severity(visit.timeMs);
    const version = this.#incident.version(visit.timeMs);
    if (draw.chance(0.7 * severity + 0.002)) {
      visit.tookMs += TIMEOUT_MS;
      visit.status = 502;
      const error = {
        type: 'java.sql.SQLTransientConnectionException',
        message: `payment-pool - Connection is not available, request timed out after ${TIMEOUT_MS}ms`,
        stack: STACK,
      };
      const retries = 1 + draw.below(3);
      events.push(
        this.#log(visit, 'payment', 'error', `payment of ${order.id} failed`, {
          ...{ version, order, error, retries },
        }),
        this.#log(visit, 'checkout', 'error', `checkout of ${order.id} failed: payment: 504`, {
          order,
        }),
      );
      return events;
    }
    visit.tookMs += draw.lognormal(4.5 + 3 * severity, 0.4);
    events.push(
      this.#log(visit, 'payment', 'info', `payment of ${order.id} accepted`, {
        ...{ version, order },
        took_ms: Math.round(visit.tookMs),
      }),
    );
    return events;
  }

  #log(
    visit: Visit,
    service: string,
    level: string,
    message: string,
    more: object = {},
  ): DemoEvent {
    visit.tookMs += this.#draw.lognormal(1, 0.6);
    return jsonEvent('shop', Math.round(visit.timeMs + visit.tookMs), {
      ...{ level, service, message, host: `app-${1 + (visit.traceId.charCodeAt(0) % 4)}` },
      ...{ trace: { id: visit.traceId }, user: { id: visit.userId }, ...more },
    });
  }

  #access({ timeMs, traceId, path, status, tookMs }: Visit): DemoEvent {
    const draw = this.#draw;
    const address = this.#address();
    const verb = path === '/checkout' || path === '/login' ? 'POST' : 'GET';
    return jsonEvent('web', Math.round(timeMs + tookMs), {
      message: `${verb} ${path} HTTP/2.0`,
      host: draw.pick(WEB_HOSTS),
      http: {
        ...{ verb, request: path, status_code: status, useragent: agent(this.#agent()) },
        response_time: Number((tookMs / 1_000).toFixed(3)),
        response_bytes: status === 200 ? Math.round(draw.lognormal(8.5, 1)) : 312,
      },
      network: { client_ip: `198.51.${address >> 8}.${address & 255}` },
      trace: { id: traceId },
    });
  }
}

const STACK = [
  'java.sql.SQLTransientConnectionException: payment-pool - Connection is not available',
  '\tat com.zaxxer.hikari.pool.HikariPool.createTimeoutException(HikariPool.java:696)',
  '\tat com.zaxxer.hikari.pool.HikariPool.getConnection(HikariPool.java:197)',
  '\tat com.example.shop.payment.LedgerRepository.reserve(LedgerRepository.java:88)',
  '\tat com.example.shop.payment.PaymentService.pay(PaymentService.java:141)',
  '\tat com.example.shop.payment.PaymentHandler.handle(PaymentHandler.java:57)',
].join('\n');
