/** Distinct user agents that `agent` makes. */
export const AGENT_COUNT = 5_000;

const SYSTEMS = [
  'Windows NT 10.0; Win64; x64',
  'Macintosh; Intel Mac OS X 10_15_7',
  'X11; Linux x86_64',
  'iPhone; CPU iPhone OS 18_1 like Mac OS X',
  'Linux; Android 10; K',
  'iPad; CPU OS 17_7 like Mac OS X',
  'Linux; Android 15; Pixel 9',
  'X11; CrOS x86_64 14541.0.0',
  'Linux; Android 14; SM-S921B',
  'Windows NT 6.1; WOW64',
  'Macintosh; Intel Mac OS X 14_6',
  'Linux; Android 13; SM-A536B Build/TP1A.220624.014',
  'X11; Ubuntu; Linux x86_64',
  'Linux; U; Android 12; de-DE; Redmi Note 9 Pro',
  'compatible; crawler; +https://crawler.example/about.html',
  'X11; Fedora; Linux x86_64',
  'Windows NT 10.0; ARM64',
  'SMART-TV; Linux; Tizen 7.0',
  'Linux; Android 9; moto g(7) power',
  'PlayStation; PlayStation 5/6.50',
];

const BROWSERS: ((major: number) => string)[] = [
  (major) => `AppleWebKit/537.36 (KHTML, like Gecko) Chrome/${92 + major}.0.0.0 Safari/537.36`,
  (major) =>
    `AppleWebKit/605.1.15 (KHTML, like Gecko) Version/${12 + Math.floor(major / 8)}.${major % 8} Safari/605.1.15`,
  (major) => `Gecko/20100101 Firefox/${92 + major}.0`,
  (major) =>
    `AppleWebKit/537.36 (KHTML, like Gecko) Chrome/${92 + major}.0.0.0 Safari/537.36 Edg/${92 + major}.0.2903.${40 + major}`,
  (major) => `ShopApp/4.${major}.0 okhttp/4.12.${major % 4}`,
];

/** The user agent of a rank in [0, AGENT_COUNT): no two ranks have the same. */
export function agent(rank: number): string {
  const browser = BROWSERS[rank % BROWSERS.length];
  const rest = Math.floor(rank / BROWSERS.length);
  const major = Math.floor(rest / SYSTEMS.length);
  return `Mozilla/5.0 (${SYSTEMS[rest % SYSTEMS.length]}) ${browser(major)}`;
}
