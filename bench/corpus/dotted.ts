import { clockOf } from './clock.ts';
import { Draw } from './random.ts';
import { WORDS } from './words.ts';

/** Orders and forms of the same dotted names that a broken or unlucky client may send. */
export type NameForm =
  | 'contiguous'
  | 'interleaved'
  | 'shuffled'
  | 'shuffled each time'
  | 'repeated'
  | 'colliding'
  | 'escaped'
  | 'numbers as strings';

const AREAS = ['http', 'network', 'user', 'db'];
const FACTS = ['name', 'count', 'bytes', 'rate'];

/**
 * Makes events of sixteen attributes in four objects by the dots of their names, in one of these forms; about 420
 * bytes.
 */
export function dottedNames(form: NameForm, seed: number): () => string {
  const draw = new Draw(seed);
  const clock = clockOf(draw);
  const isQuoted = form === 'numbers as strings';
  const value = (fact: string): string => {
    if (fact === 'name') return `"${draw.pick(WORDS)}-${draw.below(500)}"`;
    const number = fact === 'rate' ? draw.next().toFixed(3) : String(draw.below(100_000));
    return isQuoted ? `"${number}"` : number;
  };
  const names =
    form === 'interleaved'
      ? FACTS.flatMap((fact) => AREAS.map((area) => [area, fact]))
      : AREAS.flatMap((area) => FACTS.map((fact) => [area, fact]));
  if (form === 'shuffled') shuffle(names, draw);
  return () => {
    const members = names.map(([area, fact]) => [`${area}.${fact}`, value(fact)]);
    if (form === 'shuffled each time') shuffle(members, draw);
    if (form === 'repeated') members.push(['http.count', value('count')]);
    if (form === 'colliding') members.push(['user', value('name')]);
    if (form === 'escaped') for (const member of members) member[0] = `${member[0]}\\u00e9`;
    const text = members.map(([name, written]) => `"${name}":${written}`).join(',');
    return `{"timestamp":${clock()},"message":"${draw.pick(WORDS)} ${draw.pick(WORDS)}",${text}}`;
  };
}

function shuffle(members: string[][], draw: Draw): void {
  for (let at = members.length - 1; at > 0; at--) {
    const other = draw.below(at + 1);
    [members[at], members[other]] = [members[other], members[at]];
  }
}
