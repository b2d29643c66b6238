import { contextFields } from '@gantry/tracing'
import { type DestinationStream, type Logger, type LoggerOptions, pino } from 'pino'

/** Paths of headers in log records. Headers are never logged: at level trace some libraries log whole requests. */
const HEADERS = ['headers', '*.headers', '*.*.headers']

type LogMethod = NonNullable<NonNullable<LoggerOptions['hooks']>['logMethod']>

/**
 * The log of a process: one line of JSON per record, with the ids of the request in whose context it was written.
 * @param destination default: stdout
 */
export function processLog(options: LoggerOptions, destination?: DestinationStream): Logger {
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
