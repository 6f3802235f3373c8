import type { Mutation } from './mutate.ts';

/** Faults in what takes events in, and in what names and orders them for queries. */
export const SERVER_MUTATIONS: readonly Mutation[] = [
  {
    name: 'attribute names have no budget',
    file: 'server/ingest/name-budget.ts',
    find: 'if (!this.#hasRoom()) return false;',
    replace: '',
    tests: ['test/ingest/name-budget.test.ts'],
  },
  {
    name: 'each ingest worker has a budget of names of its own',
    file: 'server/ingest/name-budget.ts',
    find: 'this.#counts.sum(this.#cell, this.#day) < this.#namesMax',
    replace: 'this.#key.count < this.#namesMax',
    tests: ['test/ingest/name-budget.test.ts'],
  },
  {
    name: 'an event id with other bits behind its key is taken',
    file: 'engine/query/model/event-id.ts',
    find: 'if (block.readUIntBE(KEY_BYTES, BLOCK_BYTES - KEY_BYTES) !== 0) return undefined;',
    replace: '',
    tests: ['test/query/event-id.test.ts'],
  },
  {
    name: 'events of equal dates are ordered by writers first',
    file: 'engine/query/model/event-id.ts',
    find: 'if (left.sequence !== right.sequence) return left.sequence - right.sequence;',
    replace: 'if (left.writer !== right.writer) return left.writer - right.writer;',
    tests: ['test/query/event-id.test.ts'],
  },
  {
    name: 'a group is visible and acknowledged before those of lower sequences',
    file: 'server/ingest/commit-order.ts',
    find: 'if (entry.claim !== undefined && entry.claim.first !== this.#end) return false;',
    replace: '',
    tests: ['test/ingest/commit-order.test.ts'],
  },
  {
    name: 'a group passes one that is being closed off',
    file: 'server/ingest/commit-order.ts',
    find: 'this.#busy[writer] = true;',
    replace: 'this.#settle(entry);',
    tests: ['test/ingest/commit-order.test.ts'],
  },
  {
    name: 'groups are acknowledged before one that failed is closed off',
    file: 'server/ingest/recorder.ts',
    find: 'if (failed === undefined) return undefined;',
    replace: 'if (failed !== null) return undefined;',
    tests: ['test/ingest/recorder.test.ts'],
  },
  {
    name: 'a security filter that names what is unknown hides nothing of it',
    file: 'server/api/security-filter.ts',
    find: "missing === undefined ? searchOf(text, 'security_filter', resolver) : { type: 'none' };",
    replace: "searchOf(text, 'security_filter', resolver);",
    tests: ['test/service/2.2-lost-definitions.test.ts'],
  },
  {
    name: 'a token of a tail that was changed is taken',
    file: 'server/query/tail/tail-token.ts',
    find: '      decipher.final();\n',
    replace: '',
    tests: ['test/server-query/tail-token.test.ts'],
  },
];
