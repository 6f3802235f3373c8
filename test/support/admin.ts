import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Answer, request, type Service } from './service.ts';

/** The admin API of a running service. */

/** The token of its admin. */
export function adminToken({ folder }: Pick<Service, 'folder'>): string {
  return readFileSync(join(folder, 'admin-token'), 'utf8').trim();
}

/** Asks for a resource, or changes it; throws unless the answer is 200. */
export async function manage(
  service: Service,
  method: 'GET' | 'POST' | 'PATCH',
  resource: string,
  value?: object,
): Promise<Answer> {
  const answer = await request(`${service.http}/admin/api/${resource}`, {
    method,
    headers: {
      authorization: `Bearer ${adminToken(service)}`,
      ...(value && { 'content-type': 'application/json' }),
    },
    ...(value && { body: JSON.stringify(value) }),
  });
  if (answer.status !== 200) throw new Error(`${resource}: ${answer.text}`);
  return answer;
}

/** Makes a resource; its answer. Throws unless it is 200. */
export function define(service: Service, resource: string, value: object): Promise<Answer> {
  return manage(service, 'POST', resource, value);
}

/** Makes a read key; its text. Throws as `define`. */
export async function defineReadKey(service: Service, value: object): Promise<string> {
  const { body } = await define(service, 'read_keys', value);
  return (body as { result: { key: string } }).result.key;
}
