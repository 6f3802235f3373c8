/** Stub. */
export function Users() {
  return <div class="page"><h1>Users</h1></div>;
}
