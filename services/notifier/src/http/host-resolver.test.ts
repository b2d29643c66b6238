import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { hostResolver } from './host-resolver.ts'

type Answer = { addresses: string[] } | { code: 'NXDOMAIN' | 'SERVFAIL' } | 'silence'
const CODES = { NXDOMAIN: 3, SERVFAIL: 2 }
const NXDOMAIN: Answer = { code: 'NXDOMAIN' }

/** Runs a DNS server on this machine, until the end of the test (RFC 1035 §4.1). */
async function openDns(answerTo: (name: string) => Answer) {
  const asked: string[] = []
  const socket = createSocket('udp4')
  socket.on('message', (query, { port, address }) => {
    const labels: string[] = []
    let at = 12
    for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
      labels.push(query.toString('latin1', at + 1, at + 1 + length))
      at += 1 + length
    }
    const name = labels.join('.')
    const isIpv4 = query.readUInt16BE(at + 1) === 1
    if (isIpv4) asked.push(name)
    const answer = answerTo(name)
    if (answer === 'silence') return
    const found = 'addresses' in answer && isIpv4 ? answer.addresses : []
    const records = found.map(each => [
      0xc0,
      12,
      0,
      1,
      0,
      1,
      0,
      0,
      0,
      60,
      0,
      4,
      ...each.split('.').map(Number),
    ])
    const head = Buffer.from([...query.subarray(0, 2), 0x81, 0x80, 0, 1, 0, found.length, 0, 0, 0, 0])
    if ('code' in answer) head[3] = 0x80 | CODES[answer.code]
    socket.send(Buffer.concat([head, query.subarray(12, at + 5), Buffer.from(records.flat())]), port, address)
  })
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  onTestFinished(() => void socket.close())
  return { asked, servers: [`127.0.0.1:${socket.address().port}`] }
}

async function open(
  answerTo: (name: string) => Answer,
  {
    hosts = '',
    config = '',
    timeoutMs = 20_000,
  }: { hosts?: string; config?: string; timeoutMs?: number } = {},
) {
  const folder = mkdtempSync(join(tmpdir(), 'resolver-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const [hostsFile, configFile] = [join(folder, 'hosts'), join(folder, 'resolv.conf')]
  writeFileSync(hostsFile, hosts)
  writeFileSync(configFile, config)
  const { asked, servers } = await openDns(answerTo)
  const resolve = hostResolver({ timeoutMs, servers, hostsFile, configFile })
  return {
    asked,
    resolve,
    addresses: async (name: string) => (await resolve(name)).map(each => each.address),
  }
}

test('twelve names whose servers do not answer delay no other name, and fail after the timeout', async () => {
  const { resolve, addresses } = await open(
    name => (name.endsWith('.dead.test') ? 'silence' : { addresses: ['192.0.2.7', '192.0.2.8'] }),
    { timeoutMs: 2_000 },
  )
  let failed = 0
  const dead = Array.from({ length: 12 }, (_, n) =>
    resolve(`${n}.dead.test`).catch(({ code }) => {
      failed++
      return code
    }),
  )
  for (let n = 0; n < 4; n++) expect(await addresses(`${n}.live.test`)).toEqual(['192.0.2.7', '192.0.2.8'])
  expect(failed).toBe(0)
  expect(await Promise.all(dead)).toEqual(Array(12).fill('ETIMEOUT'))
})

test('names in the hosts file and localhost are resolved without DNS', async () => {
  const hosts =
    '# 192.0.2.9 receiver\n192.0.2.1\tReceiver  alias # receiver2\n2001:db8::1 receiver\nreceiver 192.0.2.9\n'
  const { resolve, addresses, asked } = await open(() => NXDOMAIN, { hosts })
  const found = [
    { address: '192.0.2.1', family: 4 },
    { address: '2001:db8::1', family: 6 },
  ]
  for (const name of ['receiver', 'RECEIVER.']) expect(await resolve(name)).toEqual(found)
  expect(await addresses('alias')).toEqual(['192.0.2.1'])
  expect(await addresses('localhost')).toEqual(['127.0.0.1', '::1'])
  expect(asked).toEqual([])
})

test.for<[string, string, string, string[]]>([
  ['of one label', 'receiver', 'receiver.apps.svc.test', ['receiver.apps.svc.test']],
  [
    'with few dots',
    'receiver.apps',
    'receiver.apps.svc.test',
    ['receiver.apps.apps.svc.test', 'receiver.apps.svc.test'],
  ],
  ['with many dots', 'a.b.c', 'a.b.c', ['a.b.c']],
  [
    'with many dots that exists only in a domain',
    'a.b.c',
    'a.b.c.apps.svc.test',
    ['a.b.c', 'a.b.c.apps.svc.test'],
  ],
  ['outside the domains', 'b.test', 'b.test', ['b.test.apps.svc.test', 'b.test.svc.test', 'b.test']],
  ['that is absolute', 'b.test.', 'b.test', ['b.test']],
])('a name %s is searched in the domains of resolv.conf by ndots', async ([, name, existing, queried]) => {
  const config = 'nameserver 192.0.2.53\nsearch apps.svc.test svc.test\noptions timeout:1 ndots:2\n'
  const answerTo = (asked: string): Answer => (asked === existing ? { addresses: ['192.0.2.7'] } : NXDOMAIN)
  const { addresses, asked } = await open(answerTo, { config })
  expect(await addresses(name)).toEqual(['192.0.2.7'])
  expect(asked).toEqual(queried)
})

test('a name without addresses fails by another code than one that a name server cannot resolve', async () => {
  const answers: Record<string, Answer> = {
    'empty.test': { addresses: [] },
    'broken.test': { code: 'SERVFAIL' },
  }
  const { resolve } = await open(name => answers[name] ?? NXDOMAIN, { config: 'search svc.test' })
  const codeOf = (name: string) => resolve(name).catch(({ code }) => code)
  expect(await codeOf('empty.test')).toMatch(/^(ENODATA|ENOTFOUND)$/)
  expect(await codeOf('none.test')).toBe('ENOTFOUND')
  expect(await codeOf('a..test')).toMatch(/^(EBADNAME|ENOTFOUND)$/)
  expect(await codeOf('broken.test')).toBe('ESERVFAIL')
})
