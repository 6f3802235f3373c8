import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { placesOf } from './mutate.ts';
import { ORDER_MUTATIONS } from './order-mutations.ts';
import { RECORD_MUTATIONS } from './records-mutations.ts';
import { SEGMENT_MUTATIONS } from './segment-mutations.ts';
import { SERVER_MUTATIONS } from './server-mutations.ts';
import { STORE_MUTATIONS } from './store-mutations.ts';

const ROOT = new URL('../..', import.meta.url).pathname;

t.test(
  'the text of each mutation stands once in the source, and its tests are there',
  async (t) => {
    const all = [
      ORDER_MUTATIONS,
      RECORD_MUTATIONS,
      SEGMENT_MUTATIONS,
      SERVER_MUTATIONS,
      STORE_MUTATIONS,
    ].flat();
    t.ok(all.length >= 15);
    t.equal(new Set(all.map(({ name }) => name)).size, all.length);
    for (const mutation of all) {
      const source = readFileSync(join(ROOT, mutation.file), 'utf8');
      t.equal(placesOf(mutation, source), 1, mutation.name);
      t.not(mutation.find, mutation.replace);
      for (const test of mutation.tests) t.ok(existsSync(join(ROOT, test)), test);
    }
  },
);
