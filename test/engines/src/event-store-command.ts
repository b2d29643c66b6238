import { copyFile, mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { freePort } from '@gantry/service-runtime/testing'
import type { Certificates } from './certificates.ts'
import type { Engine, StartOptions } from './engine.ts'
import { leaderAccordingTo } from './gossip.ts'
import { run } from './program.ts'
import { startServer } from './server-process.ts'

/** A node of EventStoreDB that is to be started. */
export interface NodeOptions extends Pick<StartOptions, 'args' | 'folder'> {
  /** Certificates for TLS. Their keys must be RSA keys. Default: no TLS, and no users. */
  certificates?: Certificates | undefined
  /** The address of the node and those of the others in its cluster. Default: a single node on a free port. */
  cluster?: Pick<Addresses, 'port' | 'replicationPort'> & { others: readonly number[] }
  /** Keeps the data in memory. */
  inMemory?: boolean
}

interface Addresses {
  port: number
  replicationPort: number
  folder: string
}

/** The password of the user `admin` of a new database. */
export const ADMIN_PASSWORD = 'changeit'

/**
 * The command line of EventStoreDB 23.10. Its documentation ("Networking", "Cluster", "Security") has the options, which
 * later versions accept as well.
 */
function argumentsOfNode(
  { port, replicationPort, folder }: Addresses,
  { args = [], certificates, cluster, inMemory }: NodeOptions,
): string[] {
  const security = certificates
    ? [
        `--certificate-file=${certificates.certFile}`,
        `--certificate-private-key-file=${certificates.keyFile}`,
        `--trusted-root-certificates-path=${rootsIn(folder)}`,
        // The subject of the certificate, which is "eventstoredb-node" by default.
        '--certificate-reserved-node-common-name=localhost',
      ]
    : ['--insecure']
  const others = cluster?.others.map(other => `127.0.0.1:${other}`).join()
  return [
    ...['--node-ip=127.0.0.1', `--node-port=${port}`],
    ...['--replication-ip=127.0.0.1', `--replication-port=${replicationPort}`],
    ...(inMemory ? ['--mem-db'] : [`--db=${join(folder, 'db')}`]),
    ...[`--log=${join(folder, 'log')}`, '--run-projections=None'],
    ...(cluster ? ['--cluster-size=3', '--discover-via-dns=false', `--gossip-seed=${others}`] : []),
    ...security,
    ...args,
  ]
}

/** The server reads all certificates of this folder, so it contains only that of the authority. */
const rootsIn = (folder: string) => join(folder, 'roots')

/** The version that the program prints; undefined if it prints none. @throws Error when it cannot be run */
export async function versionOfEventStore(command: string): Promise<string | undefined> {
  const printed = await run(command, ['--version'], { timeoutMs: 60_000 })
  return /\d+\.\d+\.\d+/.exec(printed)?.[0]
}

/** Starts the program of EventStoreDB. The node is ready when it knows a leader, which a single node is itself. */
export async function startNode(command: string, options: NodeOptions = {}): Promise<Engine> {
  const { certificates, cluster, folder } = options
  const replicationPort = cluster?.replicationPort ?? (await freePort())
  const credentials = certificates ? `?tlsCAFile=${certificates.caFile}` : '?tls=false'
  return startServer(
    {
      command,
      args: (port, folder) => argumentsOfNode({ port, replicationPort, folder }, options),
      url: port => `esdb://127.0.0.1:${port}${credentials}`,
      ready: async port => (await leaderAccordingTo(port, certificates?.ca)) !== undefined,
      ...(certificates && { prepare: folder => copyRoot(certificates, folder) }),
      ...(cluster && { port: cluster.port }),
    },
    { folder },
  )
}

async function copyRoot({ caFile }: Certificates, folder: string): Promise<void> {
  await mkdir(rootsIn(folder), { recursive: true })
  await copyFile(caFile, join(rootsIn(folder), 'ca.crt'))
}

/** Creates a user without groups on a node with TLS. */
export async function createUser(url: string, name: string, password: string, ca: string): Promise<void> {
  const { port } = new URL(url)
  const { request } = await import('node:https')
  const { promise, resolve, reject } = Promise.withResolvers<number | undefined>()
  request(
    { host: 'localhost', port, path: '/users/', method: 'POST', ca, auth: `admin:${ADMIN_PASSWORD}` },
    answer => resolve(answer.resume().statusCode),
  )
    .setHeader('content-type', 'application/json')
    .on('error', reject)
    .end(JSON.stringify({ loginName: name, fullName: name, groups: [], password }))
  const status = await promise
  if (status !== 201) throw new Error(`the user ${name} could not be created: ${status}`)
}
