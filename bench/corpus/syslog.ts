import { clockOf } from './clock.ts';
import { Draw } from './random.ts';
import { WORDS } from './words.ts';

const PROGRAMS = ['sshd', 'nginx', 'cron', 'postfix', 'kernel', 'shopd', 'payd', 'mailer'];

/**
 * Makes RFC 5424 lines with free words and seven key=value pairs, as firewalls and services write them, about 210
 * bytes.
 */
export function syslogPairs(seed: number): () => string {
  const draw = new Draw(seed);
  const clock = clockOf(draw);
  return () => {
    const date = new Date(clock()).toISOString();
    const prival = 8 * draw.below(24) + draw.below(8);
    const address = `10.${draw.below(4)}.${draw.below(256)}.${draw.below(256)}`;
    return `<${prival}>1 ${date} host-${draw.below(200)} ${draw.pick(PROGRAMS)} ${draw.below(32_768)} - - connection ${draw.pick(WORDS)} from ${draw.pick(WORDS)} src=${address} spt=${draw.below(65_536)} dpt=${draw.pick([22, 80, 443])} proto=tcp bytes=${Math.round(draw.lognormal(7, 2))} action=${draw.pick(['allow', 'allow', 'deny'])} user="u ${draw.below(5_000)}"`;
  };
}
