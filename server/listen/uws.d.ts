/** The part of uWebSockets.js that the HTTP listener uses; the platform package brings no types. */
declare module 'uWebSockets.js' {
  /** A request; valid only until the handler returns. */
  export interface HttpRequest {
    /** Lower-case. */
    getMethod(): string;
    getUrl(): string;
    /** Without `?`; undefined when there is none. */
    getQuery(): string | undefined;
    getHeader(lowerCaseName: string): string;
    forEach(take: (lowerCaseName: string, value: string) => void): void;
  }

  /** A response; not to be touched after `onAborted` was called or `end` returned. */
  export interface HttpResponse {
    writeStatus(status: string): HttpResponse;
    writeHeader(name: string, value: string): HttpResponse;
    end(body?: string | Uint8Array, closeConnection?: boolean): HttpResponse;
    endWithoutBody(contentBytes?: number, closeConnection?: boolean): HttpResponse;
    /** Sends a chunk, all of it; false when some of it waits for the client. */
    write(chunk: string | Uint8Array): boolean;
    /**
     * Sends what can be sent at once of a chunk of a body of `bodyBytes`: whether that is all of it, and whether the
     * body is at its end, so that the response is not to be touched.
     */
    tryEnd(chunk: Uint8Array, bodyBytes: number): [isSent: boolean, isOver: boolean];
    /** Called whenever what waited is sent, with the bytes of the body so far; returns whether nothing waits again. */
    onWritable(handler: (bodyBytesSent: number) => boolean): HttpResponse;
    /** Cuts the connection. */
    close(): HttpResponse;
    cork(write: () => void): HttpResponse;
    onAborted(handler: () => void): HttpResponse;
    /** `chunk` is detached when `take` returns. */
    onData(take: (chunk: ArrayBuffer, isLast: boolean) => void): HttpResponse;
    /** Four or sixteen bytes. */
    getRemoteAddress(): ArrayBuffer;
  }

  /** A socket that listens. */
  export type ListenSocket = object;

  type Handler = (response: HttpResponse, request: HttpRequest) => void;

  /** An application: its routes and its connections. */
  export interface TemplatedApp {
    any(pattern: string, handler: Handler): TemplatedApp;
    /** `changed` is called with 1 for each connection that is opened, with -1 for each that is closed. */
    filter(changed: (response: HttpResponse, change: number) => void): TemplatedApp;
    listen(
      host: string,
      port: number,
      options: number,
      done: (socket: ListenSocket | false) => void,
    ): TemplatedApp;
    /** Closes what listens and all connections. */
    close(): TemplatedApp;
    /** The application's name for another one in this process. */
    getDescriptor(): unknown;
    /**
     * Hands accepted connections to the other application from now on; of several, in turn. Both are of the same
     * kind.
     */
    addChildAppDescriptor(descriptor: unknown): void;
    removeChildAppDescriptor(descriptor: unknown): void;
  }

  const library: {
    /** Sets an option; `silent` keeps the library's name out of answers. */
    _cfg(option: string): void;
    App(): TemplatedApp;
    /** Reads both files at once; throws when they cannot be used. */
    SSLApp(options: { cert_file_name: string; key_file_name: string }): TemplatedApp;
    us_listen_socket_close(socket: ListenSocket): void;
    us_socket_local_port(socket: ListenSocket): number;
    LIBUS_LISTEN_EXCLUSIVE_PORT: number;
  };
  // biome-ignore lint/style/noDefaultExport: the package is CommonJS, its exports are one object
  export default library;
}
