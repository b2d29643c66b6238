import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { setTimeout } from 'node:timers/promises'
import { Refusal, requests } from '@gantry/contracts'
import type { Log } from '@gantry/event-sourcing'
import {
  ANONYMOUS,
  type Dependencies,
  derivedPrincipalKey,
  ownMetadata,
  type PassedPrincipals,
  type Purpose,
  passedPrincipals,
  readModelMetrics,
  type Service,
  SettingsRefused,
  useEncryptionKeys,
  watchedLeases,
} from '@gantry/service-runtime'
import type { z } from 'zod'
import { type ProcessContext, type ProcessParts, runProcess } from './process.ts'
import { internalRequests } from './requests/internal-requests.ts'
import { type Replicas, replicas } from './requests/replicas.ts'
import { serviceSettings, urlsOfServices } from './settings.ts'
import { type MessageStorage, openBus } from './stores/bus.ts'
import { watchedDisk } from './stores/files.ts'
import { openStores, type Stores } from './stores/stores.ts'

/** Trusted proxies between gateway and service: private networks. Their X-Forwarded-For is used for the log only. */
const INSIDE = ['loopback', 'linklocal', 'uniquelocal']
const POLL_MS = 25
const AGAIN_MS = 1_000

export interface ServiceOptions<Schema extends z.ZodObject, Made extends Service> {
  name: string
  /** The settings of this service alone, including the URLs of the services that it asks. */
  settings: Schema
  environment: NodeJS.ProcessEnv
  /** Creates the service. `blobs` and `userKeys` open stores that only one service uses. */
  make(dependencies: Dependencies & Pick<Stores, 'blobs' | 'userKeys'>, settings: z.infer<Schema>): Made
  /** How the bus keeps messages, if this service configures it. */
  messages?(settings: z.infer<Schema>): MessageStorage
  /** Called after the start. The service is not ready until it has succeeded; failures are retried. */
  prepare?(service: Made, settings: z.infer<Schema>): Promise<void>
}

/** Runs one service as a process of its own, with the stores and the bus of its settings. */
export const runService = <Schema extends z.ZodObject, Made extends Service>(
  options: ServiceOptions<Schema, Made>,
): Promise<void> =>
  runProcess({
    name: options.name,
    // Read together, so that settings which contradict each other are refused.
    schema: serviceSettings.extend(options.settings.shape) as unknown as typeof serviceSettings,
    environment: options.environment,
    server: () => ({ clients: { trustProxy: INSIDE } }),
    second: ({ INTERNAL_PORT }) => ({ setting: 'INTERNAL_PORT', port: INTERNAL_PORT }),
    open: context => openService(options, context),
  })

function openService<Schema extends z.ZodObject, Made extends Service>(
  { name, make, messages, prepare }: ServiceOptions<Schema, Made>,
  context: ProcessContext<z.infer<typeof serviceSettings>>,
): ProcessParts {
  const { settings, log, metrics, now, state } = context
  const { BASE_PATH: basePath, ENCRYPTION_KEY: encryptionKeys } = settings
  const own = settings as unknown as z.infer<Schema>
  const disk = watchedDisk(log)
  const stores = openStores(settings, disk, log)
  const { eventStore, blobs, userKeys } = stores
  const readModels = { ...stores.readModels, leases: watchedLeases(metrics, stores.readModels.leases) }
  const { store: bus, backingStore } = openBus(settings, { name, log, disk, ...messages?.(own) })
  let principals: PassedPrincipals | undefined
  const pass = (purpose: Purpose) => principals?.sign(ANONYMOUS, purpose) ?? ''
  const services = servicesByUrl(context)
  let unwatch: (() => void)[] = []
  const peers = internalRequests({ services, basePath, pass })
  const service = make(
    {
      eventStore,
      readModels,
      bus,
      blobs,
      userKeys,
      now,
      newId: randomUUID,
      encryptionKeys,
      process: { holder: `${hostname()}-${process.pid}-${randomUUID()}`, log, metrics, peers },
    },
    own,
  )
  readModelMetrics(metrics, { readModels, eventStore }, service.projectors)
  peers.answer(requests.processState(name), async () => ({ ...state(), lag: await service.lag() }))
  let prepared = false
  const waitingFor = () => service.waitingFor() ?? (prepared ? undefined : 'its preparation')
  return {
    backingStores: [...stores.backingStores, backingStore],
    referenceClock: { name: 'READ_MODEL_URL', time: () => readModels.time() },
    async routes(scope) {
      const key = derivedPrincipalKey(encryptionKeys.first.bytes)
      const otherKeys = encryptionKeys.all.slice(1).map(({ bytes }) => derivedPrincipalKey(bytes))
      const known = await passedPrincipals(scope, { key, otherKeys, gatewayKey: settings.PRINCIPAL_KEY, now })
      principals = known
      await service.routes(scope, (...asked) => {
        const waiting = waitingFor()
        if (waiting !== undefined) throw new Refusal('not-ready', { detail: `waits for ${waiting}` })
        return known.admit(...asked)
      })
    },
    async inside(scope) {
      if (principals) peers.routes(scope, principals.vouched)
    },
    async start() {
      const metadata = ownMetadata({ now, newId: randomUUID }, name)
      await succeeding(() => useEncryptionKeys(eventStore, encryptionKeys, metadata), log)
      unwatch = Object.values(services).map(service => service.watch())
      await service.start()
      while (service.waitingFor() !== undefined) await setTimeout(POLL_MS)
      await succeeding(async () => prepare?.(service, own), log)
      prepared = true
    },
    waitingFor,
    release: () => service.release(),
    async stop() {
      await service.stop()
      for (const end of unwatch) end()
      await Promise.all([stores.close(), bus.close()])
    },
  }
}

/** The services whose URLs are in the settings. */
const servicesByUrl = ({
  settings,
  log,
  now,
}: ProcessContext<z.infer<typeof serviceSettings>>): Readonly<Record<string, Replicas>> =>
  Object.fromEntries(
    Object.entries(settings)
      .filter(([setting]) => setting in urlsOfServices.shape)
      .map(([setting, urls]) => [
        setting.replace('_URL', '').toLowerCase(),
        replicas({ urls: urls as unknown as string[], basePath: settings.BASE_PATH, now, log }),
      ]),
  )

/** Retries until the work succeeds, because a store may become unavailable at any time. @throws SettingsRefused at once */
async function succeeding(work: () => Promise<unknown>, log: Log): Promise<void> {
  for (;;) {
    try {
      await work()
      return
    } catch (error) {
      if (error instanceof SettingsRefused) throw error
      log.error({ err: error }, 'the preparation of the service failed, tries again')
      await setTimeout(AGAIN_MS)
    }
  }
}
