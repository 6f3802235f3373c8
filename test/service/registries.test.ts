import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { removeFolder, startService, temporaryFolder } from '../support/service.ts';

const folder = temporaryFolder();
t.teardown(() => removeFolder(folder));

const path = (name: string): string => join(folder, name);

/** Flips a bit of the last byte. */
function flip(name: string): void {
  const bytes = readFileSync(path(name));
  bytes[bytes.length - 1] ^= 1;
  writeFileSync(path(name), bytes);
}

/** Starts the service, and stops it when it starts; what it printed. */
async function outputOfStart(): Promise<string> {
  try {
    const service = await startService(folder);
    await service.stop();
    return service.output();
  } catch (error) {
    return String(error);
  }
}

const NAMES = ['manifest', 'keys', 'definitions'];

t.test('damage in one copy is healed and logged, whichever file it is', async (t) => {
  t.match(await outputOfStart(), /^ready$/m);
  const whole = new Map(NAMES.map((name) => [name, readFileSync(path(name))]));
  for (const name of NAMES) flip(name);
  const output = await outputOfStart();
  t.match(output, /^ready$/m);
  for (const name of NAMES) {
    t.match(output, new RegExp(`healed from the other.*${name} was damaged at`));
    t.same(readFileSync(path(name)).subarray(0, whole.get(name)?.length), whole.get(name));
  }
});

t.test('damage in both copies, and a loss of both, refuses the start', async (t) => {
  for (const name of NAMES) {
    const contents = [name, `${name}.copy`].map((each) => readFileSync(path(each)));
    const restore = (): void => {
      for (const [place, each] of [name, `${name}.copy`].entries()) {
        writeFileSync(path(each), contents[place] ?? '');
      }
    };
    for (const each of [name, `${name}.copy`]) flip(each);
    t.match(await outputOfStart(), new RegExp(`${name} and ${name}.copy: record .* backup`));
    for (const each of [name, `${name}.copy`]) rmSync(path(each));
    t.match(await outputOfStart(), new RegExp(`${name} and ${name}.copy are missing or empty`));
    t.notOk(existsSync(path(name)), 'nothing is made');
    restore();
  }
  t.match(await outputOfStart(), /^ready$/m);
});
