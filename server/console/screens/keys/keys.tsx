/** Stub. */
export function Keys() {
  return <div class="page"><h1>Keys</h1></div>;
}
