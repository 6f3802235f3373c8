/** The part of Koffi that the C library is called with; the platform package brings no types. */
declare module '@koromix/koffi-linux-x64' {
  interface Library {
    /** A function of the library, given its declaration in C. Throws when it has none of that name. */
    func(declaration: string): import('./c-library.ts').CFunction;
  }
  const koffi: {
    /** Opens a library; null stands for what the process has loaded. */
    load(path: null): Library;
    /** Place of the first byte of a view. */
    address(view: Uint8Array): number | bigint;
    sizeof(type: string): number;
    /** The error of the last call. */
    errno(): number;
  };
  export = koffi;
}
