/**
 * Asks the registry for known vulnerabilities of the production packages. The exit code is 1 if one has moderate severity or
 * above. A registry without audits is reported and is no failure, because no package was checked.
 */
import { spawnSync } from 'node:child_process'

const FAILING = ['moderate', 'high', 'critical']

const { stdout, error } = spawnSync(
  'npm',
  ['audit', '--omit=dev', '--json', '--fetch-retries=1', '--fetch-timeout=20000'],
  { encoding: 'utf8', maxBuffer: 64 * 1_048_576, stdio: ['ignore', 'pipe', 'ignore'] },
)

const auditReport = () => {
  try {
    return JSON.parse(stdout)
  } catch {
    return { message: error?.message ?? 'npm audit printed nothing' }
  }
}

const { metadata, vulnerabilities = {}, message, error: refused } = auditReport()
if (!metadata) {
  console.log(`npm audit: not available here, no package was checked (${message || refused?.summary})`)
} else {
  /** @type {{ name: string, severity: string, via: (string | { title: string })[] }[]} */
  const found = Object.values(vulnerabilities).filter(({ severity }) => FAILING.includes(severity))
  for (const { name, severity, via } of found)
    console.log(
      `npm audit: ${severity} in ${name}: ${via.map(cause => (typeof cause === 'string' ? cause : cause.title)).join(', ')}`,
    )
  console.log(`npm audit: ${found.length} packages with vulnerabilities of ${FAILING[0]} severity or above`)
  process.exitCode = found.length > 0 ? 1 : 0
}
