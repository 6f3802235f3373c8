/** A function of the C library. */
export interface CFunction {
  (...parameters: readonly unknown[]): number;
  /** Calls it in a thread of the pool of libuv; the last parameter is told the error, or what it returned. */
  async(...parameters: readonly unknown[]): void;
}

/** Parts of the C library that Node does not have. */
export interface CLibrary {
  /** A function of it, given its declaration in C. Throws when it has none of that name. */
  func(declaration: string): CFunction;
  /** Place of the first byte, which does not move while the bytes are there. */
  addressOf(bytes: Buffer): bigint;
  /** The error of the last call. */
  errno(): number;
}

/** The C library of the process; undefined where it cannot be called, or is not that of 64-bit Linux. */
export async function openCLibrary(): Promise<CLibrary | undefined> {
  if (process.platform !== 'linux') return undefined;
  try {
    const { default: koffi } = await import('@koromix/koffi-linux-x64');
    if (koffi.sizeof('void *') !== 8 || koffi.sizeof('size_t') !== 8) return undefined;
    const library = koffi.load(null);
    return {
      func: (declaration) => library.func(declaration),
      addressOf: (bytes) => BigInt(koffi.address(bytes)),
      errno: () => koffi.errno(),
    };
  } catch {
    return undefined;
  }
}
