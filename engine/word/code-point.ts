/** Bytes of the code point that begins with `lead`. Source: RFC 3629 section 3. */
export function pointBytes(lead: number): number {
  if (lead < 0xc0) return 1;
  if (lead < 0xe0) return 2;
  return lead < 0xf0 ? 3 : 4;
}

/** The code point of more than one byte that begins at `at`. */
export function pointAt(bytes: Uint8Array, at: number): number {
  const lead = bytes[at];
  const second = bytes[at + 1] & 0x3f;
  if (lead < 0xe0) return ((lead & 0x1f) << 6) | second;
  const third = bytes[at + 2] & 0x3f;
  if (lead < 0xf0) return ((lead & 0x0f) << 12) | (second << 6) | third;
  return ((lead & 0x07) << 18) | (second << 12) | (third << 6) | (bytes[at + 3] & 0x3f);
}
