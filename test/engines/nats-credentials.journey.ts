import { readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type NatsOptions, natsBus } from '@gantry/messaging-nats'
import { nkeys } from 'nats'
import { afterAll, describe, expect, onTestFinished, test } from 'vitest'
import { makeCertificates } from './src/certificates.ts'
import { findNats } from './src/find-nats.ts'
import { ranOn } from './src/ran-on.ts'

const folder = await mkdtemp(join(tmpdir(), 'gantry-credentials-'))
afterAll(() => rm(folder, { recursive: true }))

const found = await findNats()
const servers = found.found && (found.kind === 'path' || found.kind === 'installed') ? [found] : []
const certificates = await makeCertificates(folder)

type KeyPair = ReturnType<typeof nkeys.createUser>
const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes)
const { ca, certFile = '', keyFile = '', caFile = '' } = certificates ?? {}
const pem = (file: string) => (file ? readFileSync(file, 'utf8') : '')

/** A user created by an operator's account, whom no server has in its configuration (NATS, "Decentralized JWT"). */
function decentralized() {
  const [operator, system] = [nkeys.createOperator(), nkeys.createAccount()]
  const [account, user] = [nkeys.createAccount(), nkeys.createUser()]
  const jwt = (by: KeyPair, of: KeyPair, claims: object) => {
    const part = (value: object | Uint8Array) =>
      Buffer.from(value instanceof Uint8Array ? value : JSON.stringify(value)).toString('base64url')
    const body = {
      jti: of.getPublicKey(),
      iat: Math.floor(Date.now() / 1000),
      iss: by.getPublicKey(),
      sub: of.getPublicKey(),
      name: 'gantry',
      nats: { version: 2, ...claims },
    }
    const signed = `${part({ typ: 'JWT', alg: 'ed25519-nkey' })}.${part(body)}`
    return `${signed}.${part(by.sign(new TextEncoder().encode(signed)))}`
  }
  const unlimited = {
    subs: -1,
    data: -1,
    payload: -1,
    imports: -1,
    exports: -1,
    wildcards: true,
    conn: -1,
    leaf: -1,
  }
  const storage = { mem_storage: -1, disk_storage: -1, streams: -1, consumer: -1 }
  const accountJwt = jwt(operator, account, { type: 'account', limits: { ...unlimited, ...storage } })
  const systemJwt = jwt(operator, system, { type: 'account', limits: unlimited })
  const userJwt = jwt(account, user, { type: 'user', subs: -1, data: -1, payload: -1 })
  return {
    config: `operator: ${jwt(operator, operator, { type: 'operator' })}
resolver: MEMORY
system_account: ${system.getPublicKey()}
resolver_preload: { ${account.getPublicKey()}: ${accountJwt}, ${system.getPublicKey()}: ${systemJwt} }`,
    credentials: `-----BEGIN NATS USER JWT-----
${userJwt}
------END NATS USER JWT------

-----BEGIN USER NKEY SEED-----
${text(user.getSeed())}
------END USER NKEY SEED------
`,
  }
}

const nkey = nkeys.createUser()
const stranger = text(nkeys.createUser().getSeed())
const issued = decentralized()
const encrypted = `tls { cert_file: "${certFile}", key_file: "${keyFile}", ca_file: "${caFile}", verify: true }`
const mine = { cert: pem(certFile), key: pem(keyFile) }

interface Way {
  config: string
  right: Partial<NatsOptions>
  wrong: Partial<NatsOptions>
  reason: RegExp
  /** A program that the test needs and this machine does not have. */
  needs?: string | undefined
}

if (servers.length === 0) {
  const skipped = 'needs nats-server as a program, on the PATH or installed'
  test.skip('ways to authenticate NATS clients', { meta: { skipped } }, () => {})
}

describe.each(servers)('$description', ({ description, start }) => {
  ranOn(description)
  const refused = /rejects the user, password, token or key/
  test.for<[string, Way]>([
    [
      'with nkeys',
      {
        config: `authorization { users: [{ nkey: ${nkey.getPublicKey()} }] }`,
        right: { credentials: { file: text(nkey.getSeed()) } },
        wrong: { credentials: { file: stranger } },
        reason: refused,
      },
    ],
    [
      'with a trusted operator and the credentials of a user',
      {
        config: issued.config,
        right: { credentials: { file: issued.credentials } },
        wrong: { credentials: { file: decentralized().credentials } },
        reason: refused,
      },
    ],
    [
      'with client certificates',
      {
        config: encrypted,
        right: { tls: { ...mine, ...(ca && { ca }) } },
        wrong: { tls: { ...(ca && { ca }) } },
        reason: /requires a client certificate|connection was lost/,
        needs: certificates ? undefined : 'openssl',
      },
    ],
  ])('%s accepts clients with the right credentials, and no others', async ([, way], { skip }) => {
    const { config, right, wrong, reason, needs } = way
    if (needs) skip(`there is no ${needs}`)
    const file = join(folder, 'nats.conf')
    await writeFile(file, config)
    const server = await start({ args: ['-c', file] })
    onTestFinished(() => server.stop())
    const connect = (options: Partial<NatsOptions>) => {
      const said: string[] = []
      const bus = natsBus({ url: server.url, report: line => said.push(line), ...options })
      onTestFinished(() => bus.close())
      return { bus, said }
    }
    const { bus } = connect(right)
    await bus.publish([{ id: crypto.randomUUID(), subject: 'events.test.HELLO', data: null }])
    expect(await bus.head()).toBe(1)
    for (const options of [wrong, {}]) {
      const { bus: other, said } = connect(options)
      await expect(other.ping()).rejects.toThrow()
      if (options === wrong) expect(said.join('\n')).toMatch(reason)
      for (const secret of Object.values(right.credentials ?? {}))
        expect(said.join('\n')).not.toContain(secret)
    }
  })
})
