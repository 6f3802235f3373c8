import { Draw } from './random.ts';
import { WORDS } from './words.ts';

const EXCEPTIONS = [
  'java.lang.NullPointerException',
  'java.lang.IllegalStateException',
  'java.net.SocketTimeoutException',
  'java.util.concurrent.TimeoutException',
  'org.postgresql.util.PSQLException',
  'com.fasterxml.jackson.databind.JsonMappingException',
];
const PACKAGES = [
  'com.example.shop',
  'com.example.payment.internal',
  'org.springframework.web.servlet',
  'org.hibernate.engine.internal',
  'java.util.concurrent',
  'io.netty.channel',
];

/** An exception and where it was thrown. */
export interface Stack {
  type: string;
  message: string;
  /** As a JSON string holds it: line ends and tabs are escaped. About as long as was asked for. */
  text: string;
}

/**
 * The stack trace of a number: the same number always gives the same frames, as one fault of a program does; the
 * message is drawn anew. `bytes` of text at least, and less than a frame more.
 */
export function stackOf(number: number, bytes: number, draw: Draw): Stack {
  const own = new Draw(number);
  const type = own.pick(EXCEPTIONS);
  const message = `${own.pick(WORDS)} ${draw.below(1e6)} was not ${own.pick(['found', 'ready', 'closed', 'valid'])}`;
  let text = `${type}: ${message}`;
  while (text.length < bytes) {
    const area = own.pick(WORDS);
    const type = `${area[0].toUpperCase()}${area.slice(1)}${own.pick(['Service', 'Handler', 'Repository', 'Filter'])}`;
    text += `\\n\\tat ${own.pick(PACKAGES)}.${area}.${type}.${own.pick(['handle', 'invoke', 'find', 'run'])}${own.below(20)}(${type}.java:${20 + own.below(900)})`;
  }
  return { type, message, text };
}
