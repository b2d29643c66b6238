import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { onPath, run } from './program.ts'

/** Certificates of a server on this machine, created for one test. */
export interface Certificates {
  /** PEM of a private certificate authority, and the file that contains it. */
  ca: string
  caFile: string
  /** Certificate and key files of the server. */
  certFile: string
  keyFile: string
}

/**
 * Creates an authority and a certificate for 127.0.0.1 and localhost.
 * @param kind of the keys. EventStoreDB accepts only RSA keys, which take longer to generate.
 * @returns undefined without openssl
 */
export async function makeCertificates(
  folder: string,
  kind: 'ec' | 'rsa' = 'ec',
): Promise<Certificates | undefined> {
  if (!(await onPath('openssl'))) return undefined
  const file = (name: string) => join(folder, name)
  const openssl = (...args: string[]) => run('openssl', args, { cwd: folder, timeoutMs: 30_000 })
  const newKey = kind === 'rsa' ? ['rsa:2048'] : ['ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1']
  const key = ['-newkey', ...newKey, '-nodes', '-days', '2']
  await openssl('req', '-x509', ...key, '-subj', '/CN=Test CA', '-keyout', 'ca.key', '-out', 'ca.crt')
  await openssl(
    ...['req', '-x509', ...key, '-subj', '/CN=localhost', '-keyout', 'tls.key', '-out', 'tls.crt'],
    ...['-CA', 'ca.crt', '-CAkey', 'ca.key', '-addext', 'basicConstraints=critical,CA:FALSE'],
    ...['-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1'],
  )
  return {
    ca: await readFile(file('ca.crt'), 'utf8'),
    caFile: file('ca.crt'),
    certFile: file('tls.crt'),
    keyFile: file('tls.key'),
  }
}
