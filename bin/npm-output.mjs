import { isUnreachable } from './trouble.mjs'

/** A registry that has only failed for this long is out of reach. */
const failingMs = 20_000
const shownLines = 20

/** What npm only warns of, to end with code 0 and files cut short. */
const unwritten = /TAR_ENTRY_ERROR (ENOSPC|EDQUOT|EROFS|EACCES|EPERM|EIO)\b/

/**
 * Reads what `npm ci --loglevel=http` writes, line by line.
 * @param {object} options
 * @param {number} options.tries how often npm asks for a package before it gives up
 * @param {() => void} options.onFetched one more package has come
 * @param {(reason: string) => void} options.onRetry the registry did not answer and is asked again
 * @param {() => number} [options.now] milliseconds
 */
export function readNpm({ tries, onFetched, onRetry, now = () => performance.now() }) {
  /** @type {{ code: string | undefined, where: string, lines: string[] }} */
  const verdict = { code: undefined, where: '', lines: [] }
  /** @type {number | undefined} */
  let failingSince
  let hopeless = false

  return {
    /** What is known of the trouble: an error code, the host that was asked, and npm's own words. */
    verdict,
    /**
     * @param {string} line
     * @returns {boolean} whether the install can only fail, so that there is no use in waiting for it
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
      // npm would go on to try every other package as often before it gave up.
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
