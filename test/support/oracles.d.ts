/** Parts of two other syslog parsers, which come without types, that the tests use. */
declare module 'glossy' {
  interface Parsed {
    prival?: number;
    time?: Date;
    host?: string | null;
    appName?: string | null;
    pid?: string | null;
    msgID?: string | null;
    structuredData?: Record<string, Record<string, string>>;
    message?: string;
  }
  export const Parse: { parse(line: string): Parsed };
}

declare module 'nsyslog-parser' {
  interface Parsed {
    prival?: number;
    ts?: Date;
    host?: string;
    appName?: string;
    pid?: string;
    messageid?: string;
    message?: string;
  }
  function parse(line: string): Parsed;
  export = parse;
}
