/** The file of the manifest in the store's folder. Source: FORMAT.md 2. */
export const MANIFEST_PATH = 'manifest';
/** The folder of log segments in the store's folder. */
export const LOG_FOLDER = 'log';
/** The folder of files that nobody knows; it is never read. */
export const LOST_FOLDER = 'lost';
/** The folder of sealed segments in the store's folder. */
export const SEALED_FOLDER = 'sealed';
/** The file whose lock means that a process has the folder. */
export const LOCK_NAME = 'lock';

const SEGMENT_NAME = /^([0-9]{8})\.log$/;
const SEALED_NAME = /^([0-9]{8})\.seg$/;
const SEGMENT_DIGITS = 8;
/** Segments, of logs and sealed ones together, are numbered from 1 to this. */
export const SEGMENT_MAX = 10 ** SEGMENT_DIGITS - 1;

/** The path of a log segment: `log/00000007.log`. */
export function segmentPath(segment: number): string {
  return `${LOG_FOLDER}/${segmentName(segment)}`;
}

/** The name of a log segment in its folder. */
export function segmentName(segment: number): string {
  return `${String(segment).padStart(SEGMENT_DIGITS, '0')}.log`;
}

/** The number of the log segment with this name; `undefined` when it is not the name of one. */
export function parseSegmentName(name: string): number | undefined {
  const match = SEGMENT_NAME.exec(name);
  return match === null ? undefined : Number(match[1]);
}

/** The path of a sealed segment: `sealed/00000007.seg`. */
export function sealedPath(segment: number): string {
  return `${SEALED_FOLDER}/${String(segment).padStart(SEGMENT_DIGITS, '0')}.seg`;
}

/** The number of the sealed segment with this name; `undefined` when it is not the name of one. */
export function parseSealedName(name: string): number | undefined {
  const match = SEALED_NAME.exec(name);
  return match === null ? undefined : Number(match[1]);
}

/** The path of a segment of either kind. */
export function pathOfSegment(sealed: boolean, segment: number): string {
  return sealed ? sealedPath(segment) : segmentPath(segment);
}
