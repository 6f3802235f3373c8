/** A certificate with its key, as PEM texts. */
export interface CertificateTexts {
  cert: string;
  key: string;
}

/** The newest version of TLS that is offered. */
export type TlsVersion = '1.2' | '1.3';

/** Plan of a listener over TLS, besides its address. */
export interface TlsPlan {
  certificate: CertificateTexts;
  versionMax: TlsVersion;
  /** Keys by which a client resumes its session with any worker. */
  ticketKeys: Uint8Array;
}

/** A listener for lines, which each ingest worker opens on the same port. */
export interface LinePlan {
  /** The setting that it is of. */
  setting: string;
  host: string;
  port: number;
  /** Name of the write key that it is bound to; without it each line brings its own key. */
  key: string | undefined;
  /** `undefined`: plain TCP. */
  tls: TlsPlan | undefined;
}

/** Orders of the front thread to the sockets of an ingest worker. */
export type SocketOrder =
  /** Once in the life of a worker, again when it was refused. */
  | { type: 'listen'; plans: readonly LinePlan[] }
  /** Certificate for new connections. */
  | { type: 'certificate'; certificate: CertificateTexts }
  /** Takes nothing new and ends what is open, within `graceMs`. */
  | { type: 'stop'; graceMs: number };

/** Reports of an ingest worker's sockets to the front thread. */
export type SocketReport =
  | { type: 'listening' }
  /** A listener could not be opened, so none is. */
  | { type: 'refused'; message: string }
  /** A listener could not accept, and goes on. */
  | { type: 'failed'; error: Error }
  | { type: 'stopped' };
