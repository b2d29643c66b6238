import { isUnreachable } from './trouble.mjs'

/** Time of failures without a success after which the registry counts as unreachable, in milliseconds. */
const failingMs = 20_000
const shownLines = 20

/** Write errors that npm only warns about, before it exits with 0 and leaves incomplete files. */
const unwritten = /TAR_ENTRY_ERROR (ENOSPC|EDQUOT|EROFS|EACCES|EPERM|EIO)\b/

/**
 * Parses the output of `npm ci --loglevel=http`, line by line.
 * @param {object} options
 * @param {number} options.tries how many times npm requests a package before it gives up
 * @param {() => void} options.onFetched called for each fetched package
 * @param {(reason: string) => void} options.onRetry called when a request failed and npm retries it
 * @param {() => number} [options.now] the time in milliseconds
 */
export function readNpm({ tries, onFetched, onRetry, now = () => performance.now() }) {
  /** @type {{ code: string | undefined, where: string, lines: string[] }} */
  const verdict = { code: undefined, where: '', lines: [] }
  /** @type {number | undefined} */
  let failingSince
  let hopeless = false

  return {
    /** The cause of a failure so far: the error code, the requested host, and npm's error lines. */
    verdict,
    /**
     * @param {string} line
     * @returns {boolean} whether the install cannot succeed any more, so that npm need not be waited for
     */
    line(line) {
      if (!hopeless) hopeless = read(line)
      return hopeless
    },
  }

  /** @param {string} line */
  function read(line) {
    const fetched = /^npm http fetch GET 200 (\S+)/.exec(line)?.[1]
    if (fetched) {
      verdict.code = undefined
      failingSince = undefined
      if (fetched.endsWith('.tgz')) onFetched()
      return false
    }

    const failed = /^npm http fetch GET (\S+) attempt (\d+) failed with (\w+)/.exec(line)
    if (failed) {
      const [, url = '', attempt, reason = ''] = failed
      verdict.code = reason
      verdict.where = hostOf(url)
      failingSince ??= now()
      onRetry(reason)
      // npm would try every other package as many times before it gives up.
      return isUnreachable(reason) && (Number(attempt) >= tries || now() - failingSince >= failingMs)
    }

    const lost = unwritten.exec(line)?.[1]
    if (lost) {
      verdict.code = lost
      return true
    }

    const error = /^npm (?:error|ERR!) ?(.*)$/.exec(line)?.[1]
    if (error !== undefined) readError(error)
    return false
  }

  /** @param {string} error a line without npm's prefix */
  function readError(error) {
    verdict.code = /^code (\S+)$/.exec(error)?.[1] ?? verdict.code
    const url = /request to (\S+) failed/.exec(error)?.[1]
    if (url) verdict.where = hostOf(url)
    const stack = /^\s*at /.test(error)
    const machine = /^(code|errno|syscall) /.test(error)
    if (error.trim() && !stack && !machine && verdict.lines.length < shownLines)
      verdict.lines.push(`  ${error}`)
  }
}

/** @param {string} url */
function hostOf(url) {
  return URL.canParse(url) ? new URL(url).host : ''
}
