import { type DestinationStream, type Logger, type LoggerOptions, pino } from 'pino'

/** Headers are never logged, wherever somebody has them: libraries that are told to trace say all they know. */
const HEADERS = ['headers', '*.headers', '*.*.headers']

/** The log of a process, a line of JSON each, on stdout unless it is said. */
export const processLog = (options: LoggerOptions, destination?: DestinationStream): Logger =>
  pino({ ...options, redact: { paths: HEADERS, remove: true } }, destination)
