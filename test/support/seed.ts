import fc from 'fast-check';

/**
 * Seeds the properties of a test file: with FC_SEED when it is set, else at random, and prints the seed, so that what
 * failed once can be run again.
 */
export function seedOf(t: { comment: (text: string) => void }): void {
  const asked = Number(process.env['FC_SEED'] ?? '');
  const seed = asked !== 0 ? asked : (Math.random() * 2 ** 31) | 0;
  fc.configureGlobal({ seed });
  t.comment(`FC_SEED=${seed}`);
}
