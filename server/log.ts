import { withoutKeys, withoutSteering } from './safe-text.ts';

/** Urgency of a line: `error` a person must look, `info` a state changed, `debug` the rest. */
export type LogLevel = 'error' | 'info' | 'debug';

/** Levels from the quietest to the loudest. */
export const LOG_LEVELS: readonly LogLevel[] = ['error', 'info', 'debug'];

/** Facts of a log line besides its message. Errors are written as message and code, without stack. */
export type LogFields = Record<string, unknown>;

/** Log of the service. Messages are constant texts; the variable parts are in the fields. */
export interface Log {
  error(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  debug(message: string, fields?: LogFields): void;
}

/** Characters that may wait for the reader of the standard error output. */
const UNREAD_CHARACTERS_MAX = 1_048_576;

function plain(_name: string, value: unknown): unknown {
  if (typeof value === 'string') return withoutKeys(value);
  if (typeof value === 'bigint') return value.toString();
  if (value instanceof Map) return Object.fromEntries(value);
  if (!(value instanceof Error)) return value;
  const code = (value as NodeJS.ErrnoException).code;
  return {
    message: value.message,
    ...(code === undefined ? {} : { code }),
    ...(value.cause === undefined ? {} : { cause: value.cause }),
  };
}

/** The line as it is written: one JSON object, control and steering characters escaped, keys taken out. */
export function logLine(
  level: LogLevel,
  message: string,
  fields: LogFields,
  nowMs: number,
): string {
  const time = new Date(nowMs).toISOString();
  const text = JSON.stringify({ time, level, message, ...fields }, plain);
  return `${withoutSteering(text)}\n`;
}

/** Writes to the standard error output, unless too much waits there for somebody who does not read. */
function tell(line: string): void {
  if (process.stderr.writableLength < UNREAD_CHARACTERS_MAX) process.stderr.write(line);
}

/**
 * Opens a log of JSON lines that drops what is louder than `level`, which is asked at each line when it is a function.
 * `write` gets whole lines; the service gives it the standard error output.
 */
export function openLog(
  level: LogLevel | (() => LogLevel),
  write: (line: string) => void = tell,
): Log {
  const loudest = (): number => LOG_LEVELS.indexOf(typeof level === 'string' ? level : level());
  const at =
    (lineLevel: LogLevel) =>
    (message: string, fields: LogFields = {}): void => {
      if (LOG_LEVELS.indexOf(lineLevel) > loudest()) return;
      write(logLine(lineLevel, message, fields, Date.now()));
    };
  return { error: at('error'), info: at('info'), debug: at('debug') };
}
