import t from 'tap';
import { readText, readTextAt, writeText } from '../../engine/base/text-file.ts';
import { type Loss, MemoryDisk } from '../support/memory-disk.ts';

t.test('a text comes back as it was written, an absent one as undefined', async (t) => {
  const disk = new MemoryDisk();
  t.equal(readText(disk, 'a'), undefined);
  t.equal(readText(disk, 'folder/a'), undefined);
  await writeText(disk, 'a', 'one');
  await writeText(disk, 'a', 'é\u0000\n');
  t.equal(readText(disk, 'a'), 'é\u0000\n');
  await writeText(disk, 'empty', '');
  t.equal(readText(disk, 'empty'), '');
  t.same(disk.list(''), ['a', 'empty'], 'nothing else is left');
});

t.test('after a stop at any call the old text or the new one is there, whole', async (t) => {
  const losses: Loss[] = [{ type: 'none' }, { type: 'all' }];
  for (let seed = 0; seed < 10; seed++) losses.push({ type: 'random', seed });
  for (const loss of losses) {
    for (let call = 1, done = false; !done; call++) {
      const disk = new MemoryDisk();
      await writeText(disk, 'a', 'old');
      disk.calls = 0;
      disk.faults = { crashAtCall: call };
      done = await writeText(disk, 'a', 'new').then(
        () => true,
        () => false,
      );
      disk.crash(loss);
      const text = readText(disk, 'a');
      if (text !== 'new' && (done || text !== 'old')) t.fail(`call ${call}, ${loss.type}: ${text}`);
      await writeText(disk, 'a', 'next');
      if (readText(disk, 'a') !== 'next') t.fail(`call ${call}, ${loss.type}: not written again`);
    }
  }
  t.pass();
});

t.test('a file anywhere is read by its path, and no folder is made', async (t) => {
  t.match(readTextAt(new URL('../../package.json', import.meta.url).pathname), /"logseam"/);
  t.equal(readTextAt('/nowhere/at/all'), undefined);
});
