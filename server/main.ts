import { askHolder } from '../engine/store/lock.ts';
import { runCommand } from './command.ts';

process.exitCode = await runCommand(process.argv.slice(2), {
  // Loaded only when it runs: the key commands need neither the engine nor the listeners.
  serve: async (config) => (await import('./serve.ts')).serve(config),
  askHolder,
  print: (text) => process.stdout.write(text),
  complain: (text) => process.stderr.write(text),
});
