import { accessLog } from './access.ts';
import { newNames } from './hostile.ts';
import { applicationShapes, wide } from './shapes.ts';
import { syslogPairs } from './syslog.ts';

/** Events of one kind, as many as are asked for: the same seed gives the same bytes on every machine. */
export interface Corpus {
  name: string;
  /** Says in a sentence what it stands for. */
  what: string;
  /** The least that any store must do with it. */
  bound: string;
  /** What the lines are: JSON objects, syslog, texts, or lines of several kinds. */
  format: 'json' | 'syslog' | 'text' | 'mixed';
  /** Attributes whose distinct values tell how rough it is: dotted paths as queries name them. */
  attributes: readonly string[];
  /** Makes the source of a run: each call is the next line, without its newline. Nothing that was made is kept. */
  make(seed: number): () => string;
}

/** All corpora, by what they stand for. */
export const CORPORA: readonly Corpus[] = [
  {
    name: 'access-plain',
    what: 'one well-kept web server: twelve attributes in one order, dates of one form',
    bound: 'bytes looked at one by one; two URLs and an address that repeat',
    format: 'json',
    attributes: ['http.request', 'network.client_ip', 'http.useragent', 'http.ident'],
    make: accessLog,
  },
  {
    name: 'syslog-pairs',
    what: 'firewalls and services: RFC 5424 with seven key=value pairs',
    bound: 'header and pairs are found byte by byte; ports and sizes hardly repeat',
    format: 'syslog',
    attributes: ['syslog.hostname', 'syslog.appname', 'src', 'user'],
    make: syslogPairs,
  },
  {
    name: 'application-shapes',
    what: 'many applications: 1,000 shapes of 400 attributes',
    bound: 'many columns, each of few values',
    format: 'json',
    attributes: ['level', 'message'],
    make: applicationShapes,
  },
  {
    name: 'wide',
    what: 'applications with 200 optional attributes, each there half of the time',
    bound: 'a hundred values an event, and which of them are there: 200 bits',
    format: 'json',
    attributes: ['level', 'message', 'db.id'],
    make: wide,
  },
  {
    name: 'hostile',
    what: 'a broken client: ten new attribute names an event',
    bound: 'tables of names',
    format: 'json',
    attributes: ['message'],
    make: newNames,
  },
];

/** The corpus of that name; throws when there is none, naming those that there are. */
export function corpusOf(name: string): Corpus {
  const found = CORPORA.find((corpus) => corpus.name === name);
  if (found !== undefined) return found;
  const known = CORPORA.map((corpus) => corpus.name).join(', ');
  throw new Error(`there is no corpus ${name}; there are ${known}`);
}
