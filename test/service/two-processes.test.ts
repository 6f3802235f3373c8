import { copyFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import {
  listAll,
  removeFolder,
  runCommand,
  send,
  startService,
  TEST_LISTENERS,
  temporaryFolder,
} from '../support/service.ts';

/** Changes of a person to the folder of a running service before he starts another one on it. */
const TRICKS: Readonly<Record<string, (folder: string) => void>> = {
  'nothing is touched': () => {},
  'the lock is removed': (folder) => rmSync(join(folder, 'lock')),
  'the manifest is replaced by its copy': (folder) => {
    rmSync(join(folder, 'lock'));
    renameSync(join(folder, 'manifest'), join(folder, 'manifest.old'));
    copyFileSync(join(folder, 'manifest.old'), join(folder, 'manifest'));
  },
};

for (const [name, trick] of Object.entries(TRICKS)) {
  t.test(`${name}: a second start on the folder is refused`, async (t) => {
    const folder = temporaryFolder();
    t.teardown(() => removeFolder(folder));
    const service = await startService(folder);
    t.equal((await send(service, 'first', 'text/plain')).status, 200);
    trick(folder);
    for (const command of ['serve', 'check']) {
      const flags = command === 'serve' ? TEST_LISTENERS : [];
      const second = await runCommand([command, '--data', folder, ...flags]);
      t.equal(second.code, 1, second.stdout);
      t.match(second.stderr, /is in use by (another process|process \d+)/);
    }
    const [event] = await listAll(service);
    t.equal(event?.event.message, 'first');
    await service.stop();
  });
}
