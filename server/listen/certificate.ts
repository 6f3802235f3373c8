import { createPrivateKey, X509Certificate } from 'node:crypto';
import { hostname, networkInterfaces } from 'node:os';
import { join, resolve } from 'node:path';
import { DAY_MS } from '../../engine/base/durations.ts';
import { EngineError } from '../../engine/base/errors.ts';
import type { Disk } from '../../engine/base/file.ts';
import { readText, readTextAt, writeText } from '../../engine/base/text-file.ts';

/** A certificate and its key, which fit each other. */
export interface Certificate {
  /** PEM, with the chain when there is one. */
  cert: string;
  key: string;
  /** Files of both. */
  certPath: string;
  keyPath: string;
  /** SHA-256 of the certificate, hexadecimal with colons. */
  fingerprint: string;
  /** The end of its validity, milliseconds. */
  validToMs: number;
}

/** Source of the certificate. */
export interface CertificateOptions {
  disk: Disk;
  /** The folder of `disk`. */
  root: string;
  /** Files of an own certificate and its key; without them one is made and kept in the data folder. */
  certPath: string | undefined;
  keyPath: string | undefined;
}

const FOLDER = 'tls';
const CERT_PATH = `${FOLDER}/cert.pem`;
const KEY_PATH = `${FOLDER}/key.pem`;
const VALID_MS = 3_650 * DAY_MS;
const MIB = 1_048_576;
/** Kinds of alternative names. Source: RFC 5280 4.2.1.6. */
const DNS_NAME = 2;
const IP_ADDRESS = 7;
const NAMES_MAX = 64;

/**
 * The certificate of the TLS listeners: the configured one or the one of the data folder, which the first start makes.
 * Rejects with USAGE when a file is missing, is not what it should be or does not fit the other; IO.
 * Source: INTERFACE.md 1.1.
 */
export async function openCertificate(options: CertificateOptions): Promise<Certificate> {
  const { disk, root, certPath, keyPath } = options;
  if (certPath !== undefined || keyPath !== undefined) {
    if (certPath === undefined) throw usage('tls_key is set and tls_cert is not; allowed: both');
    if (keyPath === undefined) throw usage('tls_cert is set and tls_key is not; allowed: both');
    const cert = ofFile('tls_cert', certPath);
    return checked(cert, ofFile('tls_key', keyPath), resolve(certPath), resolve(keyPath));
  }
  const keptCert = resolve(join(root, CERT_PATH));
  const keptKey = resolve(join(root, KEY_PATH));
  const cert = readText(disk, CERT_PATH);
  const key = readText(disk, KEY_PATH);
  if (cert !== undefined && key !== undefined) return checked(cert, key, keptCert, keptKey);
  // The key is written first: a certificate alone is not ours, and those who trust it would be cut off by another.
  if (cert !== undefined) throw usage(`${keptCert} is there and its key ${keptKey} is not`);
  const made = await make();
  disk.makeFolder(FOLDER);
  await writeText(disk, KEY_PATH, made.key);
  await writeText(disk, CERT_PATH, made.cert);
  await disk.syncFolder('');
  return checked(made.cert, made.key, keptCert, keptKey);
}

function usage(message: string, cause?: unknown): EngineError {
  return new EngineError('USAGE', message, cause === undefined ? {} : { cause });
}

function ofFile(setting: string, path: string): string {
  const text = readTextAt(path);
  if (text === undefined) throw usage(`${setting}: ${path} does not exist`);
  if (text.length > MIB) throw usage(`${setting}: ${path} is no PEM file, it is too large`);
  return text;
}

function checked(cert: string, key: string, certPath: string, keyPath: string): Certificate {
  const certificate = parsed(`${certPath} holds no PEM certificate`, () => {
    return new X509Certificate(cert);
  });
  const privateKey = parsed(`${keyPath} holds no PEM private key without a passphrase`, () => {
    return createPrivateKey(key);
  });
  if (!certificate.checkPrivateKey(privateKey)) {
    throw usage(`the key in ${keyPath} is not that of the certificate in ${certPath}`);
  }
  const validToMs = Date.parse(certificate.validTo);
  return { cert, key, certPath, keyPath, fingerprint: certificate.fingerprint256, validToMs };
}

function parsed<Value>(fault: string, parse: () => Value): Value {
  try {
    return parse();
  } catch (cause) {
    throw usage(fault, cause);
  }
}

/** Makes a certificate that names this machine and signs itself. */
async function make(): Promise<{ cert: string; key: string }> {
  // Loaded only when it is needed, as that takes longer than the rest of the start.
  const { generate } = await import('selfsigned');
  const host = hostname();
  const now = Date.now();
  const addresses = Object.values(networkInterfaces())
    .flatMap((entries) => entries ?? [])
    .map(({ address }) => address)
    .filter((address) => !address.startsWith('fe80:'));
  const names = [...new Set([host, 'localhost'])];
  const ips = [...new Set(['127.0.0.1', '::1', ...addresses])].slice(0, NAMES_MAX);
  const made = await generate([{ name: 'commonName', value: host.slice(0, NAMES_MAX) }], {
    keyType: 'ec',
    curve: 'P-256',
    algorithm: 'sha256',
    notBeforeDate: new Date(now - 86_400_000),
    notAfterDate: new Date(now + VALID_MS),
    extensions: [
      { name: 'basicConstraints', cA: false, critical: true },
      { name: 'keyUsage', digitalSignature: true, critical: true },
      { name: 'extKeyUsage', serverAuth: true },
      {
        name: 'subjectAltName',
        altNames: [
          ...names.map((value) => ({ type: DNS_NAME, value }) as const),
          ...ips.map((ip) => ({ type: IP_ADDRESS, ip }) as const),
        ],
      },
    ],
  });
  return { cert: made.cert, key: made.private };
}
