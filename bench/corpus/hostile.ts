import { Draw } from './random.ts';

/** Makes events whose ten attributes have new names every time: what a broken or hostile client sends. */
export function newNames(seed: number): () => string {
  const draw = new Draw(seed);
  const name = (): string => draw.below(2 ** 40).toString(36);
  return () => {
    const attributes = Array.from({ length: 10 }, () => `"${name()}.${name()}":"${name()}"`);
    return `{"message":"hello ${name()}",${attributes.join(',')}}`;
  };
}
