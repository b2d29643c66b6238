import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { onPath, run } from './program.ts'

/** Of a server on this machine, made for one test. */
export interface Certificates {
  /** PEM of the authority that nobody else trusts, and the file that it is in. */
  ca: string
  caFile: string
  /** Of the server. */
  certFile: string
  keyFile: string
}

/** Makes an authority and a certificate for 127.0.0.1 and localhost. @returns undefined where there is no openssl */
export async function makeCertificates(folder: string): Promise<Certificates | undefined> {
  if (!(await onPath('openssl'))) return undefined
  const file = (name: string) => join(folder, name)
  const openssl = (...args: string[]) => run('openssl', args, { cwd: folder, timeoutMs: 30_000 })
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2']
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
