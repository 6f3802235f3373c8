import t from 'tap';
import { type Mutation, runMutations } from './mutate.ts';

/** Makes a test of each mutation: it is caught. MUTATION=<part of names> runs some of them alone. */
export async function proveCaught(mutations: readonly Mutation[]): Promise<void> {
  const asked = process.env['MUTATION'] ?? '';
  const wanted = mutations.filter(({ name }) => name.includes(asked));
  const verdicts = await runMutations(wanted, (text) => t.comment(text));
  for (const { mutation, caughtBy, trouble } of verdicts) {
    t.ok(caughtBy !== undefined, `${mutation.name}: ${caughtBy ?? trouble}`);
  }
}
