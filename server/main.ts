import { askHolder } from '../engine/store/lock.ts';
import { runCommand } from './command.ts';

/** Time in which the last lines of a service have to be read. */
const OUTPUT_GRACE_MS = 1_000;

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
  check: async (root) => {
    const { check } = await import('./check.ts');
    const progress = (text: string): boolean => process.stderr.write(`\r${text}`);
    return check(root, {
      print: (text) => process.stdout.write(text),
      progress: process.stderr.isTTY ? progress : undefined,
    });
  },
  askHolder,
  print: (text) => process.stdout.write(text),
  complain: (text) => process.stderr.write(text),
});
