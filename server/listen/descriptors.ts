import { readKernelText } from '../../engine/base/text-file.ts';

/** Numbers of connections that may be open. */
export interface ConnectionLimits {
  /** Limit of all listeners for lines and all workers together. */
  lines: number;
  /** Limit of each listener for HTTP. */
  http: number;
}

/** Limit used where the system sets none. */
const UNLIMITED = 1_048_576;
/** Descriptors that files and threads keep, at least, and their share. */
const FILES_MIN = 128;
const FILES_SHARE = 1 / 4;
/** The share of HTTP in the others, so that queries and administration have some whatever comes in as lines. */
const HTTP_SHARE = 1 / 5;
const CONNECTIONS_MIN = 8;
/** The share of files that all query workers may keep open, and how many each. */
const QUERIES_SHARE = 1 / 2;
const QUERY_FILES_MIN = 4;
const QUERY_FILES_MAX = 64;

/** The limits for a process that may have so many descriptors, with so many listeners for HTTP. */
export function connectionLimits(descriptors: number, httpListeners: number): ConnectionLimits {
  const rest = Math.max(0, descriptors - filesOf(descriptors));
  const http = Math.floor((rest * HTTP_SHARE) / Math.max(httpListeners, 1));
  return {
    lines: Math.max(CONNECTIONS_MIN, Math.floor(rest * (1 - HTTP_SHARE))),
    http: Math.max(CONNECTIONS_MIN, http),
  };
}

/** The files of segments that each of so many query workers may keep open. */
export function queryFiles(descriptors: number, workers: number): number {
  const files = Math.floor((filesOf(descriptors) * QUERIES_SHARE) / workers);
  return Math.min(Math.max(files, QUERY_FILES_MIN), QUERY_FILES_MAX);
}

function filesOf(descriptors: number): number {
  return Math.max(FILES_MIN, descriptors * FILES_SHARE);
}

/** The descriptors that this process may have. */
export function descriptorsMax(): number {
  const limits = readKernelText('/proc/self/limits') ?? '';
  const [, soft] = /^Max open files +(\d+)/m.exec(limits) ?? [];
  return soft === undefined ? UNLIMITED : Number(soft);
}
