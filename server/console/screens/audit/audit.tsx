/** Stub. */
export function Audit() {
  return <div class="page"><h1>Audit</h1></div>;
}
