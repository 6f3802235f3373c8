/** Stub. */
export function Send() {
  return <div class="page"><h1>Send</h1></div>;
}
