import { type Answer, request, type Service } from './service.ts';

/** Parts of a request of a browser. */
export interface Asked {
  cookie?: string;
  body?: unknown;
  headers?: object;
}

/** A request of a page of the service, with the cookie of a session if there is one. */
export function asked(
  service: Pick<Service, 'http'>,
  method: string,
  path: string,
  { cookie = '', body, headers = {} }: Asked = {},
): Promise<Answer> {
  return request(`${service.http}${path}`, {
    method,
    headers: {
      'content-type': 'application/json',
      origin: service.http,
      ...(cookie === '' ? {} : { cookie: `theme=dark; ${cookie}` }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
}

/** The cookie that an answer sets, without its attributes. */
export function cookieOf({ headers }: Answer): string {
  return (headers.get('set-cookie') ?? '').split(';', 1)[0];
}

/** The cookie of a new session. */
export async function logIn(service: Pick<Service, 'http'>, body: unknown): Promise<string> {
  return cookieOf(await asked(service, 'POST', '/account/session', { body }));
}

/** The `result` of an answer. */
export function resultOf(answer: Answer): Record<string, unknown> {
  return Object(answer.body).result;
}
