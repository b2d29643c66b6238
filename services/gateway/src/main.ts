import { internalRequests, referenceTime, replicas, runProcess } from '@gantry/hosting'
import { openBus } from '@gantry/hosting/bus'
import { ANONYMOUS, type Purpose, passedPrincipals } from '@gantry/service-runtime'
import {
  forwarding,
  gateway,
  gatewayProcessSettings,
  metricsServer,
  principalKey,
  rateCounts,
  serverOptions,
  systemOf,
  systemRoute,
} from './index.ts'

await runProcess({
  name: 'gateway',
  schema: gatewayProcessSettings,
  environment: process.env,
  server: serverOptions,
  second: metricsServer,
  open({ settings, log, metrics, now, state }) {
    const key = principalKey(settings)
    const { BASE_PATH: basePath } = settings
    const { store: bus, backingStore } = openBus(settings, { name: 'gateway', log })
    const found = (urls: readonly string[]) => replicas({ urls, basePath, now, log })
    const services = {
      catalog: found(settings.CATALOG_URL),
      identity: found(settings.IDENTITY_URL),
      media: found(settings.MEDIA_URL),
      notifier: found(settings.NOTIFIER_URL),
    }
    let pass = (_purpose: Purpose) => ''
    const peers = internalRequests({ services, basePath, pass: purpose => pass(purpose) })
    const edge = gateway({ bus, peers, now, metrics, counts: rateCounts({ bus, now }) }, settings)
    let unwatch: (() => void)[] = []
    /** True once all services have been ready. From then on the gateway stays ready and answers 503 for missing services. */
    let complete = false
    return {
      backingStores: [backingStore],
      referenceClock: { name: 'identity', time: () => referenceTime(services.identity, basePath) },
      async routes(scope) {
        const { sign } = await passedPrincipals(scope, { key, now })
        pass = purpose => sign(ANONYMOUS, purpose)
        await edge.edge(scope)
        systemRoute(scope, {
          admit: edge.admit,
          system: () => systemOf(Object.keys(services), peers, state()),
        })
        await forwarding(scope, { admit: edge.admit, sign, services })
      },
      async start() {
        unwatch = Object.values(services).map(service => service.watch())
        await edge.start()
      },
      waitingFor() {
        const missing = complete
          ? undefined
          : Object.entries(services).find(([, service]) => !service.ready())
        complete ||= missing === undefined
        return missing?.[0]
      },
      async stop() {
        for (const end of unwatch) end()
        await edge.stop()
        await bus.close()
      },
    }
  },
})
