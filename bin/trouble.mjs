/** An error that the user can fix. It is shown in one or two lines, without a stack trace. */
export class Trouble extends Error {
  /**
   * @param {string} message the problem, in one line
   * @param {string} [advice] the remedy
   * @param {number} [code] the exit code. Default: 1
   */
  constructor(message, advice = '', code = 1) {
    super(message)
    this.advice = advice
    this.code = code
  }
}

const unreachable = [
  'ENOTFOUND',
  'EAI_AGAIN',
  'ECONNREFUSED',
  'ECONNRESET',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENETDOWN',
  'ERR_SOCKET_TIMEOUT',
  'ECONNECTIONTIMEOUT',
  'EIDLETIMEOUT',
  'ERESPONSETIMEOUT',
  'ETRANSFERTIMEOUT',
  'FETCH_ERROR',
]
const untrusted = [
  'SELF_SIGNED_CERT_IN_CHAIN',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'CERT_HAS_EXPIRED',
  'ERR_TLS_CERT_ALTNAME_INVALID',
]
const registryAdvice =
  'Check the network and the proxy (npm config get proxy); the registry in use: npm config get registry'

/**
 * Whether an npm error code means that the registry cannot be reached, so that other packages would fail as well.
 * @param {string} code such as `ENOTFOUND` or the status `503`
 */
export function isUnreachable(code) {
  return unreachable.includes(code) || /^5\d\d$/.test(code)
}

/**
 * Describes the failure of an install.
 * @param {string | undefined} code a system or npm error code: `ENOSPC`, `EACCES`, `ENOTFOUND`, `E404`, …
 * @param {{ root: string, where?: string, lines?: string[] }} context the folder of the project, the requested host, and
 *   npm's error lines, which are shown for missing packages and for unknown codes
 * @returns {Trouble}
 */
export function installTrouble(code, { root, where, lines = [] }) {
  const because = [code, where].filter(Boolean).join(' ')
  if (code && isUnreachable(code)) {
    return new Trouble(`Cannot install: the npm registry is out of reach (${because}).`, registryAdvice)
  }
  if (code && untrusted.includes(code)) {
    return new Trouble(
      `Cannot install: the certificate of the npm registry is not trusted (${because}).`,
      'Behind a proxy that inspects TLS, set its certificate: NODE_EXTRA_CA_CERTS=/path/to/ca.pem',
    )
  }
  switch (code) {
    case 'ENOSPC':
    case 'EDQUOT':
      return new Trouble(
        `Cannot install: the disk is full (${because}).`,
        `About 400 MB are needed to start Gantry and 750 MB to test it, in ${root} and npm's cache (npm config get cache).`,
      )
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
      return new Trouble(
        `Cannot install: no permission to write (${because}).`,
        `Run it as the owner of ${root}, or make that folder and npm's cache (npm config get cache) writable.`,
      )
    case 'EUSAGE':
      return new Trouble(
        'Cannot install: package-lock.json does not match the package.json files.',
        'After changing dependencies run: npm install',
      )
    case 'E401':
    case 'E403':
    case 'E407':
      return new Trouble(`Cannot install: the npm registry refuses access (${because}).`, registryAdvice)
    case 'E404':
    case 'ETARGET':
      return new Trouble(
        `Cannot install: the npm registry does not have all packages (${because}).`,
        [...lines, registryAdvice].join('\n'),
      )
    case 'ENONPM':
      return new Trouble('Cannot install: there is no npm on the PATH.', 'On Debian: apt install nodejs npm')
    default:
      return new Trouble(
        `Cannot install: npm ci failed${because ? ` (${because})` : ''}.`,
        lines.length > 0 ? lines.join('\n') : 'Run npm ci to see its messages.',
      )
  }
}
