import { type DestinationStream, type Logger, type LoggerOptions, pino } from 'pino'

/** Headers are never logged, wherever somebody has them: libraries that are told to trace say all they know. */
const HEADERS = ['headers', '*.headers', '*.*.headers']

type LogMethod = NonNullable<NonNullable<LoggerOptions['hooks']>['logMethod']>

/** The log of a process, a line of JSON each, on stdout unless it is said. */
export function processLog(options: LoggerOptions, destination?: DestinationStream): Logger {
  const logMethod = options.hooks?.logMethod ?? writeLine
  const hooks = { ...options.hooks, logMethod: unlessReported(logMethod) }
  return pino({ ...options, hooks, redact: { paths: HEADERS, remove: true } }, destination)
}

const writeLine: LogMethod = function (given, method) {
  method.apply(this, given)
}

/** Leaves out failures that follow from one that has a line of its own, such as a full disk. */
const unlessReported = (log: LogMethod): LogMethod =>
  function (given, method, level) {
    const [details] = given as unknown[]
    if (isReported(details) || isReported((details as { err?: unknown } | undefined)?.err)) return
    log.call(this, given, method, level)
  }

const isReported = (error: unknown): boolean =>
  error instanceof Error && (('reported' in error && error.reported === true) || isReported(error.cause))
