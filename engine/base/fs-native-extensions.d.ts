/** The part of fs-native-extensions that files are locked with; the package brings no types. */
declare module 'fs-native-extensions' {
  /** Locks the whole file for an open descriptor; false when another has it. Throws a system error. */
  export function tryLock(fd: number): boolean;
}
