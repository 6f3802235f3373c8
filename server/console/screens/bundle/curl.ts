/** The command line that asks the same. */
export function curlOf(path: string, body: unknown): string {
  const text = JSON.stringify(body).replaceAll("'", String.raw`'\''`);
  return [
    `curl -sS '${location.origin}${path}'`,
    "-H 'content-type: application/json' -H 'x-api-key: READ_KEY'",
    `-d '${text}'`,
  ].join(' \\\n  ');
}
