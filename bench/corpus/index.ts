import { accessLog } from './access.ts';
import { accessRough } from './access-rough.ts';
import { application } from './application.ts';
import { hostile } from './hostile.ts';
import { kubernetes } from './kubernetes.ts';
import { applicationShapes, wide } from './shapes.ts';
import { syslogPairs } from './syslog.ts';
import { syslog3164 } from './syslog-3164.ts';

/** Events of one kind, as many as are asked for: the same seed gives the same bytes on every machine. */
export interface Corpus {
  name: string;
  /** Says in a sentence what it stands for. */
  what: string;
  /**
   * The least that any store must keep of an event: what the source draws for it, in bytes, names and words that repeat
   * left aside. The least that it must do is to look at each byte.
   */
  bound: string;
  /** The form of the lines: JSON objects, syslog, texts, or lines of several kinds. */
  format: 'json' | 'syslog' | 'text' | 'mixed';
  /** Attributes whose distinct values tell how rough it is: dotted paths as queries name them. */
  attributes: readonly string[];
  /** Makes the source of a run: each call is the next line, without its newline. Nothing that was made is kept. */
  make(seed: number): () => string;
}

/** All corpora, from those that every peer takes to those that none likes. */
export const CORPORA: readonly Corpus[] = [
  {
    name: 'access-plain',
    what: 'a well-kept web server: JSON, twelve attributes in one order, dates of one form',
    bound: '11 random bytes: address, two URLs, size, time',
    format: 'json',
    attributes: ['http.request', 'network.client_ip', 'http.useragent', 'http.ident'],
    make: accessLog,
  },
  {
    name: 'access-rough',
    what: '24 web servers of many teams: JSON, for each an order of attributes and a form of dates',
    bound: '12 random bytes: the same, and 7 in a fifth of the URLs',
    format: 'json',
    attributes: ['http.request', 'network.client_ip', 'http.useragent', 'http.ident'],
    make: accessRough,
  },
  {
    name: 'syslog-pairs',
    what: 'firewalls and services: RFC 5424 with seven key=value pairs',
    bound: '13 random bytes: process, address, port, size, user, words',
    format: 'syslog',
    attributes: ['syslog.hostname', 'syslog.appname', 'src', 'user'],
    make: syslogPairs,
  },
  {
    name: 'syslog-3164',
    what: 'a server room: RFC 3164 of 16 programs with 34 messages',
    bound: '12 random bytes: process, and what stands in the texts',
    format: 'syslog',
    attributes: ['syslog.hostname', 'syslog.appname', 'message'],
    make: syslog3164,
  },
  {
    name: 'application',
    what: 'services of a shop: nested JSON, 60 optional attributes, traces, stack traces of 8 kB',
    bound: '36 random bytes: ids, 11 of them of span and trace, and what is there',
    format: 'json',
    attributes: ['service', 'trace.id', 'user.id', 'error.type'],
    make: application,
  },
  {
    name: 'application-shapes',
    what: 'many applications: JSON in 1,000 shapes of 400 attributes',
    bound: '43 random bytes in columns of few values each',
    format: 'json',
    attributes: ['level', 'message'],
    make: applicationShapes,
  },
  {
    name: 'wide',
    what: 'applications: JSON, 200 optional attributes, each there half of the time',
    bound: '150 random bytes, of which 25 say what is there',
    format: 'json',
    attributes: ['level', 'message', 'db.name'],
    make: wide,
  },
  {
    name: 'kubernetes',
    what: 'a cluster through Fluent Bit: JSON of three loggers, klog, access lines, logfmt, Java, text',
    bound: '16 random bytes in the lines; metadata, two thirds of the text, repeat',
    format: 'json',
    attributes: ['kubernetes.pod_name', 'kubernetes.container_name', 'kubernetes.host', 'log'],
    make: kubernetes,
  },
  {
    name: 'hostile',
    what: 'broken and hostile clients: new, colliding, repeated names, deep nesting, 1 MB lines, no JSON',
    bound: '115 random bytes, most in names that never come again',
    format: 'mixed',
    attributes: ['message'],
    make: hostile,
  },
];

/** The corpus of that name; throws when there is none, naming those that there are. */
export function corpusOf(name: string): Corpus {
  const found = CORPORA.find((corpus) => corpus.name === name);
  if (found !== undefined) return found;
  const known = CORPORA.map((corpus) => corpus.name).join(', ');
  throw new Error(`there is no corpus ${name}; there are ${known}`);
}
