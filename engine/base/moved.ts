/** The buffers of all typed arrays in plain data: those that a message may move instead of copying them. */
export function buffersIn(data: unknown): ArrayBuffer[] {
  const buffers = new Set<ArrayBuffer>();
  collect(data, buffers);
  return [...buffers];
}

function collect(data: unknown, buffers: Set<ArrayBuffer>): void {
  if (typeof data !== 'object' || data === null) return;
  if (ArrayBuffer.isView(data)) {
    // Empty arrays may be constants, which have to stay where they are.
    const { buffer } = data;
    if (buffer instanceof ArrayBuffer && buffer.byteLength > 0) buffers.add(buffer);
    return;
  }
  if (Array.isArray(data) && typeof data[0] !== 'object') return;
  const parts = data instanceof Map ? data.values() : Object.values(data);
  for (const part of parts) collect(part, buffers);
}
