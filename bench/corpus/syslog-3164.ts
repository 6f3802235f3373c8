import { clockOf, shortDate, slashDate } from './clock.ts';
import { type Parts, PROGRAMS } from './programs.ts';
import { Draw, zipf, zipfRank } from './random.ts';
import { WORDS } from './words.ts';

const HOSTS = 300;
const USERS = 2_000;

/**
 * Makes RFC 3164 lines of the programs of a server room, about 135 bytes: 16 programs (Zipf 0.8) with 34 messages, 300
 * hosts (Zipf 0.7), 2,000 users (Zipf 1), addresses that hardly repeat. The dates have no year and no milliseconds.
 */
export function syslog3164(seed: number): () => string {
  const draw = new Draw(seed);
  const host = zipfRank(HOSTS, 0.7, draw.next);
  const user = zipfRank(USERS, 1, draw.next);
  const program = zipf(PROGRAMS, 0.8, draw.next);
  const clock = clockOf(draw);
  let timeMs = 0;
  const parts: Parts = {
    draw,
    user: () => `user${user().toString(36)}`,
    host: () => `pc-${draw.pick(WORDS)}-${draw.below(5_000)}`,
    address: () =>
      `${1 + draw.below(223)}.${draw.below(256)}.${draw.below(256)}.${1 + draw.below(254)}`,
    port: () => 1024 + draw.below(64_512),
    date: () => slashDate(timeMs),
  };
  return () => {
    timeMs = clock();
    const { name, facility, hasProcess, messages } = program();
    const [severity, text] = draw.pick(messages);
    const tag = hasProcess ? `${name}[${2 + draw.below(65_534)}]` : name;
    return `<${8 * facility + severity}>${shortDate(timeMs)} srv-${host()} ${tag}: ${text(parts)}`;
  };
}
