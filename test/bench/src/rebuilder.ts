import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { apis, catalogService } from '@gantry/catalog'
import { sqliteBus, sqliteEventStore, sqliteReadModels } from '@gantry/embedded'
import { requestRebuild } from '@gantry/event-sourcing'
import { localPeers, plainKey } from '@gantry/service-runtime'
import { pino } from 'pino'
import { Registry } from 'prom-client'

/**
 * A process with only the projector of catalog. It prints its memory in MiB when the read models are complete, its maximum
 * memory during a rebuild, and the duration of the rebuild in seconds.
 */
const SAMPLE_MS = 50
const [folder = '.', mode = 'build'] = process.argv.slice(2)
const mebibytes = () => process.memoryUsage().rss / 1024 / 1024

const eventStore = sqliteEventStore({ path: join(folder, 'events.db') })
const readModels = sqliteReadModels({ path: join(folder, 'read-models.db') })
const bus = sqliteBus({ path: join(folder, 'messages.db') })
const log = pino({ level: process.env.LOG_LEVEL ?? 'warn' }, pino.destination(2))
const service = catalogService(
  {
    eventStore,
    readModels,
    bus,
    now: () => new Date(),
    newId: () => crypto.randomUUID(),
    encryptionKeys: plainKey(Buffer.alloc(32)),
    process: { holder: `bench-${process.pid}`, log, metrics: new Registry(), peers: localPeers() },
  },
  { DEPLOYMENT_TIMEOUT: 3_600_000, MAX_VERSIONS_PER_API: 0 },
)
await service.start('projectors')
while (service.waitingFor() !== undefined) await setTimeout(SAMPLE_MS)
const collection = readModels.collection(apis)
if (mode !== 'build') {
  await setTimeout(2_000)
  const idle = mebibytes()
  let peak = idle
  const sampling = setInterval(() => {
    peak = Math.max(peak, mebibytes())
  }, SAMPLE_MS)
  const startedAt = performance.now()
  const isDone = await requestRebuild('catalog.projector', readModels, crypto.randomUUID())
  while (!(await isDone())) await setTimeout(SAMPLE_MS)
  clearInterval(sampling)
  const seconds = (performance.now() - startedAt) / 1000
  const stranger = await collection.get('stranger-0')
  if (stranger) throw new Error('the rebuild left a document without events in the log')
  process.stdout.write(`${JSON.stringify({ idle, peak, seconds })}\n`)
}
await service.stop()
await Promise.all([eventStore.close(), readModels.close(), bus.close()])
