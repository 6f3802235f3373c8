import { askHolder } from '../engine/store/lock.ts';
import type { CheckOutput } from './check.ts';
import { runCommand } from './command.ts';

/** Time in which the last lines of a service have to be read. */
const OUTPUT_GRACE_MS = 1_000;

/** Output of commands that take long. */
const OUTPUT: CheckOutput = {
  print: (text) => process.stdout.write(text),
  progress: process.stderr.isTTY ? (text) => process.stderr.write(`\r${text}\u001b[K`) : undefined,
};

// Who reads what is told may leave: that is no reason to end.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});

process.exitCode = await runCommand(process.argv.slice(2), {
  // Loaded only when it runs: the key commands need neither the engine nor the listeners.
  serve: async (config, reload) => {
    const code = await (await import('./serve.ts')).serve(config, reload);
    // What waits for somebody who has stopped reading does not hold the process.
    setTimeout(() => process.exit(code), OUTPUT_GRACE_MS).unref();
    return code;
  },
  check: async (root) => (await import('./check.ts')).check(root, OUTPUT),
  backup: async (root, target, holder) =>
    (await import('./backup.ts')).backup(root, target, holder, OUTPUT),
  restore: async (source, root) => (await import('./backup.ts')).restore(source, root, OUTPUT),
  repair: async (root) => (await import('./repair.ts')).repair(root, OUTPUT),
  upgrade: async (root) => (await import('./upgrade.ts')).upgrade(root, OUTPUT),
  askHolder,
  print: (text) => process.stdout.write(text),
  complain: (text) => process.stderr.write(text),
});
