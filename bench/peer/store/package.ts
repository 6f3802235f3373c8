/**
 * A package of `bench/peer/node_modules`, which `make bench-peers` installs and nothing else needs. Its name is not a
 * literal of an import, so that types and tests do without it.
 */
export async function loadPackage(name: string): Promise<unknown> {
  try {
    return await import(name);
  } catch (error) {
    const reason = error instanceof Error ? error.message.split('\n')[0] : String(error);
    throw new Error(`${name} cannot be loaded, \`make bench-peers\` installs it: ${reason}`);
  }
}
