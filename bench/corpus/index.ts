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
  /** The least that any store must do with it. */
  bound: string;
  /** What the lines are: JSON objects, syslog, texts, or lines of several kinds. */
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
    what: 'one well-kept web server: twelve attributes in one order, dates of one form, JSON',
    bound:
      'each byte is looked at; a third of the URLs and half of the addresses are new to a block',
    format: 'json',
    attributes: ['http.request', 'network.client_ip', 'http.useragent', 'http.ident'],
    make: accessLog,
  },
  {
    name: 'access-rough',
    what: 'web servers of many teams: an order of attributes and a form of dates for each, JSON',
    bound:
      'each byte is looked at; 20 random bytes for the URLs that never come again, 4 or 14 for the address',
    format: 'json',
    attributes: ['http.request', 'network.client_ip', 'http.useragent', 'http.ident'],
    make: accessRough,
  },
  {
    name: 'syslog-pairs',
    what: 'firewalls and services: RFC 5424 with seven key=value pairs',
    bound: 'pairs are found byte by byte; 11 random bytes: process, address, port, size, user',
    format: 'syslog',
    attributes: ['syslog.hostname', 'syslog.appname', 'src', 'user'],
    make: syslogPairs,
  },
  {
    name: 'syslog-3164',
    what: 'a server room: RFC 3164 of 16 programs with 34 messages',
    bound: 'headers are guessed, not counted; addresses, ports and ids in texts are random',
    format: 'syslog',
    attributes: ['syslog.hostname', 'syslog.appname', 'message'],
    make: syslog3164,
  },
  {
    name: 'application',
    what: 'services of a shop: nested JSON, 60 optional attributes, traces, stack traces of 8 kB',
    bound: '60 bits of what is there; 8 random bytes a span, 16 a trace of six events',
    format: 'json',
    attributes: ['service', 'trace.id', 'user.id', 'error.type'],
    make: application,
  },
  {
    name: 'application-shapes',
    what: 'many applications: 1,000 shapes of 400 attributes, JSON',
    bound: 'many columns, each of few values',
    format: 'json',
    attributes: ['level', 'message'],
    make: applicationShapes,
  },
  {
    name: 'wide',
    what: 'applications with 200 optional attributes, each there half of the time, JSON',
    bound: 'a hundred values an event, and 200 bits of which are there',
    format: 'json',
    attributes: ['level', 'message', 'db.name'],
    make: wide,
  },
  {
    name: 'kubernetes',
    what: 'a cluster through Fluent Bit: JSON of three loggers, klog, access lines, logfmt, Java, text',
    bound: 'metadata that repeat are two thirds of the bytes; the rest is text and ids',
    format: 'json',
    attributes: ['kubernetes.pod_name', 'kubernetes.container_name', 'kubernetes.host', 'log'],
    make: kubernetes,
  },
  {
    name: 'hostile',
    what: 'broken and hostile clients: new, colliding, repeated names, deep nesting, 1 MB lines, no JSON',
    bound: 'three new names an event are kept somewhere; no shape comes often',
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
