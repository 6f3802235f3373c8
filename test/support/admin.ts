import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Answer, request, type Service } from './service.ts';

/** The admin API of a running service. */

/** The token of its admin. */
export function adminToken({ folder }: Pick<Service, 'folder'>): string {
  return readFileSync(join(folder, 'admin-token'), 'utf8').trim();
}

/** Makes a resource; throws unless the answer is 200. */
export async function define(service: Service, resource: string, value: object): Promise<Answer> {
  const answer = await request(`${service.http}/admin/api/${resource}`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${adminToken(service)}`,
      'content-type': 'application/json',
    },
    body: JSON.stringify(value),
  });
  if (answer.status !== 200) throw new Error(`${resource}: ${answer.text}`);
  return answer;
}

/** Makes a read key; its text. Throws as `define`. */
export async function defineReadKey(service: Service, value: object): Promise<string> {
  const { body } = await define(service, 'read_keys', value);
  return (body as { result: { key: string } }).result.key;
}
