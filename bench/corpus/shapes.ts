import { clockOf } from './clock.ts';
import { Draw, zipf } from './random.ts';
import { WORDS } from './words.ts';

const LEVELS = ['info', 'info', 'warn', 'error'];

/** Makes application events in 1,000 shapes: each shape has its own 6 to 24 of 400 attributes, nested two deep. */
export function applicationShapes(seed: number): () => string {
  const draw = new Draw(seed);
  const names = Array.from({ length: 400 }, (_, n) => `${draw.pick(WORDS)}_${n}`);
  const shapes = Array.from({ length: 1_000 }, () => {
    const count = 6 + draw.below(19);
    return [...new Set(Array.from({ length: count }, () => draw.below(names.length)))];
  });
  const shape = zipf(shapes, 0.7, draw.next);
  const value = (attribute: number): string => {
    const kind = attribute % 6;
    if (kind === 0) return String(draw.below(10_000));
    if (kind === 1) return draw.lognormal(0, 1).toFixed(2);
    if (kind === 2) return draw.next() < 0.5 ? 'true' : 'false';
    if (kind === 3) return `"${draw.pick(WORDS)}-${draw.below(50)}"`;
    if (kind === 4) return `{"id":${draw.below(1e6)},"kind":"${draw.pick(WORDS)}"}`;
    return `"${draw.below(2 ** 30).toString(16)}${draw.below(2 ** 30).toString(16)}"`;
  };
  const clock = clockOf(draw);
  return () => {
    const timeMs = clock();
    const attributes = shape().map((attribute) => `"${names[attribute]}":${value(attribute)}`);
    return `{"timestamp":${timeMs},"level":"${draw.pick(LEVELS)}","message":"${draw.pick(WORDS)} ${draw.pick(WORDS)} ${draw.pick(WORDS)} took ${draw.below(900)} ms",${attributes.join(',')}}`;
  };
}

const AREAS =
  'http db cache queue user cart order payment k8s host trace app feature mail search auth api job disk net';
const FACTS = 'id name state count bytes duration_ms rate retries enabled version';

/**
 * Makes application events with 200 optional attributes, each there half of the time: numbers, short strings and
 * booleans, names flat (`user_id`) or, mostly, dotted (`db.duration_ms`). About 2,300 bytes, and hardly
 * two events of one shape.
 */
export function wide(seed: number): () => string {
  const draw = new Draw(seed);
  const makers: (() => string)[] = [
    () => `"${draw.below(2 ** 30).toString(16)}"`,
    () => `"${draw.pick(WORDS)}-${draw.below(40)}"`,
    () => draw.pick(['"ok"', '"ok"', '"open"', '"failed"']),
    () => String(draw.below(1_000)),
    () => String(Math.round(draw.lognormal(8, 2))),
    () => draw.lognormal(2, 1).toFixed(3),
    () => draw.next().toFixed(2),
    () => String(draw.below(4)),
    () => String(draw.next() < 0.9),
    () => `"${draw.below(3)}.${draw.below(10)}.${draw.below(10)}"`,
  ];
  const attributes = AREAS.split(' ').flatMap((area, place) =>
    FACTS.split(' ').map((fact, kind) => {
      return { name: `"${area}${place % 4 === 0 ? '_' : '.'}${fact}":`, value: makers[kind] };
    }),
  );
  const clock = clockOf(draw);
  return () => {
    let text = `{"timestamp":${clock()},"level":"${draw.pick(LEVELS)}","message":"${draw.pick(WORDS)} ${draw.pick(WORDS)} took ${draw.below(900)} ms"`;
    for (const { name, value } of attributes) if (draw.next() < 0.5) text += `,${name}${value()}`;
    return `${text}}`;
  };
}
