import { createHash } from 'node:crypto';
import type { Disk } from '../../../engine/base/file.ts';
import { readBytes } from '../../../engine/base/text-file.ts';
import { ApiError, type ApiRequest, type Reply, takesCoding } from '../reply.ts';

/** A file of the console, and its compressed forms, made when it was built. */
interface Asset {
  type: string;
  etag: string;
  whole: Uint8Array;
  gzip?: Uint8Array;
  br?: Uint8Array;
}

const PAGE = 'index.html';
const ASSETS_PATH = '/assets/';
const TYPES: ReadonlyMap<string, string> = new Map([
  ['html', 'text/html; charset=utf-8'],
  ['js', 'text/javascript; charset=utf-8'],
  ['css', 'text/css; charset=utf-8'],
  ['svg', 'image/svg+xml'],
]);
/** Addresses of the page's screens. */
const SCREENS: ReadonlySet<string> = new Set([
  ...[
    '/',
    '/setup',
    '/event',
    '/analytics',
    '/differences',
    '/send',
    '/keys',
    '/users',
    '/settings',
  ],
  ...['/health', '/audit', '/account'],
]);
/** Names with a digest of their contents never change. */
const FOR_EVER = 'public, max-age=31536000, immutable';
/** Nothing runs, or is loaded, that is not one of the assets. Source: Content Security Policy Level 3. */
const SECURITY = {
  'content-security-policy': [
    ...["default-src 'none'", "script-src 'self'", "style-src 'self'", "img-src 'self' data:"],
    ...["connect-src 'self'", "form-action 'self'", "base-uri 'none'", "frame-ancestors 'none'"],
  ].join('; '),
  ...{ 'x-content-type-options': 'nosniff', 'referrer-policy': 'no-referrer' },
  ...{ 'cross-origin-opener-policy': 'same-origin', 'x-frame-options': 'DENY' },
};

/** The files of the console, read once; none when it was not built. */
export class ConsoleAssets {
  readonly #assets = new Map<string, Asset>();

  /** Reads the files that `server/console/build.ts` has made in a folder of `disk`. Throws IO. */
  constructor(disk: Disk, folder: string) {
    const names = disk.list(folder);
    for (const name of names) {
      const type = TYPES.get(name.slice(name.lastIndexOf('.') + 1));
      if (type === undefined) continue;
      const form = (end: string): Uint8Array | undefined =>
        names.includes(name + end) ? readBytes(disk, `${folder}/${name}${end}`) : undefined;
      const whole = readBytes(disk, `${folder}/${name}`);
      const [gzip, br] = [form('.gz'), form('.br')];
      const etag = `"${createHash('sha256').update(whole).digest('base64url').slice(0, 22)}"`;
      this.#assets.set(name, {
        ...{ type, etag, whole },
        ...(gzip === undefined ? {} : { gzip }),
        ...(br === undefined ? {} : { br }),
      });
    }
  }

  /** Reports whether a path is one of a screen or of a file. */
  has(path: string): boolean {
    return SCREENS.has(path) || path.startsWith(ASSETS_PATH);
  }

  /** The page of a screen, or a file of it, as its path `has`. Throws ApiError 404 and 405. */
  reply(request: ApiRequest): Reply {
    const { path, method } = request;
    const isScreen = SCREENS.has(path);
    if (method !== 'GET' && method !== 'HEAD') {
      throw new ApiError(405, 'allowed methods: GET, HEAD', { allow: 'GET, HEAD' });
    }
    const asset = this.#assets.get(isScreen ? PAGE : path.slice(ASSETS_PATH.length));
    if (asset === undefined) {
      throw new ApiError(
        404,
        isScreen ? 'the console was not built: start by make run' : 'there is no such file',
      );
    }
    return replyOf(
      asset,
      request,
      isScreen || asset.type === TYPES.get('svg') ? 'no-cache' : FOR_EVER,
    );
  }
}

function replyOf(asset: Asset, request: ApiRequest, caching: string): Reply {
  const { headers, method } = request;
  const { type, etag, whole, gzip, br } = asset;
  const fixed = { ...SECURITY, etag, 'cache-control': caching, vary: 'Accept-Encoding' };
  if (headers.get('if-none-match') === etag) {
    return { status: 304, body: '', contentType: type, headers: fixed };
  }
  const forms: [string, Uint8Array | undefined][] = [
    ['br', br],
    ['gzip', gzip],
  ];
  const [coding, bytes] =
    forms.find(([name, form]) => form !== undefined && takesCoding(request, name)) ?? [];
  return {
    ...{ status: 200, contentType: type, body: method === 'HEAD' ? '' : (bytes ?? whole) },
    headers: { ...fixed, ...(coding === undefined ? {} : { 'content-encoding': coding }) },
  };
}
