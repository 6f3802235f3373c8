/** Parts of autocannon, which comes without types, that small.ts uses. */
declare module 'autocannon' {
  interface Options {
    url: string;
    method: string;
    headers: Record<string, string>;
    body: string;
    connections: number;
    /** Seconds. */
    duration: number;
  }
  interface Result {
    '2xx': number;
    non2xx: number;
    /** Milliseconds. */
    latency: { p50: number; p99: number };
  }
  function autocannon(options: Options): Promise<Result>;
  export = autocannon;
}
