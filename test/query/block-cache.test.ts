import t from 'tap';
import { BlockCache } from '../../engine/query/block-cache.ts';
import { Block } from '../../engine/segment/block/block.ts';
import type { BlockHead } from '../../engine/segment/block/block-head.ts';
import { Shelf } from '../segment/shelf.ts';

t.test(
  'a block that is not kept any more is opened with its head, until its segment is gone',
  async (t) => {
    const shelf = new Shelf();
    const leaf = { kind: 'string' as const, text: 'a', names: ['custom', 'x'] };
    const small = await shelf.add([{ timeMs: 1, leaves: [leaf] }], 0, 0);
    const opened = shelf.reader.open(small);
    const cache = new BlockCache();
    const given: (BlockHead | undefined)[] = [];
    const open = (head: BlockHead | undefined): Block => {
      given.push(head);
      return head === undefined ? opened : new Block(head);
    };
    // Too large to be kept.
    const large = { ...small, offset: 64, bytes: 2 ** 26 };
    t.equal(cache.get(large, open), opened);
    t.equal(cache.get(large, open).eventText(0), opened.eventText(0));
    t.same(given, [undefined, opened.head]);
    t.equal(cache.get(small, open), opened);
    t.equal(cache.get(small, open), opened);
    t.equal(given.length, 3);
    cache.forget([small.segment]);
    cache.get(large, open);
    t.equal(given.at(-1), undefined);
  },
);
