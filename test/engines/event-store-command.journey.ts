import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { NO_STREAM } from '@gantry/event-sourcing'
import { esdbEventStore } from '@gantry/event-store-esdb'
import { afterAll, expect, onTestFinished, test, vi } from 'vitest'
import { argumentsOfNode } from './src/event-store-command.ts'
import { findEventStore } from './src/find-event-store.ts'
import { ranOn } from './src/ran-on.ts'

ranOn('a program that records its arguments and runs the stand-in for EventStoreDB')

const folder = await mkdtemp(join(tmpdir(), 'gantry-command-'))
afterAll(() => rm(folder, { recursive: true }))
const command = join(folder, 'eventstored')
const recorded = join(folder, 'arguments')
await writeFile(
  command,
  `#!/bin/sh
if [ "$1" = --version ]; then echo 'EventStoreDB version 23.10.6.0 (oss-v23.10.6)'; exit; fi
printf '%s\\n' "$@" > ${recorded}
for argument; do
  case $argument in
    --node-port=*) port=\${argument#*=} ;;
    --db=*) data=\${argument#*=} ;;
  esac
done
exec ${process.execPath} ${join(import.meta.dirname, 'src/esdb-stand-in-main.ts')} --port "$port" --data "$data"
`,
  { mode: 0o755 },
)

test('the program of EVENT_STORE_COMMAND is started on a free port with its data in a folder, and again after a kill', async () => {
  vi.stubEnv('EVENT_STORE_URL', undefined)
  vi.stubEnv('EVENT_STORE_COMMAND', command)
  onTestFinished(() => void vi.unstubAllEnvs())
  const { description, start } = await findEventStore()
  expect(description).toBe('EventStoreDB 23.10.6 of EVENT_STORE_COMMAND')
  const node = await start()
  onTestFinished(() => node.stop())
  const eventStore = esdbEventStore({ connectionString: node.url })
  onTestFinished(() => eventStore.close())
  const metadata = { actor: { id: null, name: 'test' }, requestId: 'r1', at: '2026-11-21T10:00:00.000Z' }
  const placed = { id: crypto.randomUUID(), type: 'OrderPlaced', data: {}, metadata }
  await eventStore.append('order-1', [placed], NO_STREAM)
  const before = await readFile(recorded, 'utf8')
  await node.faults?.kill()
  await node.faults?.restart()
  expect(await readFile(recorded, 'utf8')).toBe(before)
  await vi.waitFor(async () => expect(await eventStore.readStream('order-1')).toHaveLength(1))
  const own = { port: new URL(node.url).port, data: /^--db=(.*)\/db$/m.exec(before)?.[1] }
  expect(
    before.replaceAll(own.data ?? '', 'DATA').replace(/(?<=replication-port=)\d+/, 'FREE'),
  ).toBe(`--node-ip=127.0.0.1
--node-port=${own.port}
--replication-ip=127.0.0.1
--replication-port=FREE
--db=DATA/db
--log=DATA/log
--run-projections=None
--insecure
`)
})

test('a node of three with TLS gets the addresses of the others and the certificates', () => {
  const addresses = { port: 1, replicationPort: 2, folder: '/data' }
  const files = { ca: '', caFile: '/c/ca.crt', certFile: '/c/tls.crt', keyFile: '/c/tls.key' }
  const cluster = { port: 1, replicationPort: 2, others: [3, 5] }
  expect(argumentsOfNode(addresses, { certificates: files, cluster, inMemory: true }).slice(4)).toEqual([
    '--mem-db',
    '--log=/data/log',
    '--run-projections=None',
    '--cluster-size=3',
    '--discover-via-dns=false',
    '--gossip-seed=127.0.0.1:3,127.0.0.1:5',
    '--certificate-file=/c/tls.crt',
    '--certificate-private-key-file=/c/tls.key',
    '--trusted-root-certificates-path=/data/roots',
    '--certificate-reserved-node-common-name=localhost',
  ])
})
