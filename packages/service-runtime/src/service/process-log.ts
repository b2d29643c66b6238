import { contextFields } from '@gantry/tracing'
import { type DestinationStream, type Logger, type LoggerOptions, pino } from 'pino'

/** Paths of headers in log records. Headers are never logged: at level trace some libraries log whole requests. */
const HEADERS = ['headers', '*.headers', '*.*.headers']

type LogMethod = NonNullable<NonNullable<LoggerOptions['hooks']>['logMethod']>

/**
 * The log of a process, with the ids of the request in whose context a record was written: one line of JSON per record; on
 * a terminal, text.
 * @param destination default: stdout
 */
export function processLog(
  options: LoggerOptions,
  destination: DestinationStream | undefined = process.stdout.isTTY ? asText(process.stdout) : undefined,
): Logger {
  const logMethod = options.hooks?.logMethod ?? writeLine
  const hooks = { ...options.hooks, logMethod: unlessReported(logMethod) }
  const redact = { paths: HEADERS, remove: true }
  return pino({ ...options, hooks, redact, mixin: contextFields }, destination)
}

const writeLine: LogMethod = function (given, method) {
  method.apply(this, given)
}

/** Drops failures caused by one that is logged elsewhere (marked `reported`), such as a full disk. */
const unlessReported = (log: LogMethod): LogMethod =>
  function (given, method, level) {
    const [details] = given as unknown[]
    if (isReported(details) || isReported((details as { err?: unknown } | undefined)?.err)) return
    log.call(this, given, method, level)
  }

const isReported = (error: unknown): boolean =>
  error instanceof Error && (('reported' in error && error.reported === true) || isReported(error.cause))

/** Fields of a record that a reader at a terminal knows, or that have a place of their own in the line. */
const OWN = new Set(['level', 'time', 'service', 'pid', 'hostname', 'msg', 'err'])

/** Writes records as lines for people, e.g. `09:30:00 warn  the disk is full again  path=/data`. */
export const asText = (stream: { write(text: string): unknown }): DestinationStream => ({
  write(line) {
    const record = JSON.parse(line) as Record<string, unknown> & { level: number; time: number }
    const at = new Date(record.time).toTimeString().slice(0, 8)
    const fields = Object.entries(record)
      .filter(([name]) => !OWN.has(name))
      .map(([name, value]) => `  ${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`)
    const { stack, message } = (record.err ?? {}) as { stack?: string; message?: string }
    const error = stack ?? message
    const level = (pino.levels.labels[record.level] ?? '').padEnd(5)
    stream.write(`${at} ${level} ${record.msg ?? ''}${fields.join('')}\n${error ? `${error}\n` : ''}`)
  },
})
