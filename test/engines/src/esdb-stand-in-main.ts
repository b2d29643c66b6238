import { readFileSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { startEsdbStandIn } from './esdb-stand-in.ts'

/**
 * Runs the stand-in for EventStoreDB until SIGTERM or SIGINT: `--port 2113 --data ./data`. With `--members FILE` it is
 * a node of the cluster that the file describes.
 */
const { values } = parseArgs({
  options: {
    port: { type: 'string', default: '2113' },
    host: { type: 'string', default: '127.0.0.1' },
    data: { type: 'string', default: './data' },
    members: { type: 'string' },
  },
})
await mkdir(values.data, { recursive: true })
const { members: file } = values
const standIn = await startEsdbStandIn({
  path: join(values.data, 'event-store-stand-in.sqlite'),
  port: Number(values.port),
  host: values.host,
  ...(file && { members: () => JSON.parse(readFileSync(file, 'utf8')) }),
})
process.stdout.write(`EventStoreDB stand-in, not EventStoreDB itself, at ${standIn.url}\n`)
// Acknowledged appends are on disk. Clients lose their connections, as when the real server stops.
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => process.exit(0))
