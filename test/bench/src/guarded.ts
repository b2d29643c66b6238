import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { catalogService, catalogSettings } from '@gantry/catalog'
import { SCOPES } from '@gantry/contracts'
import { sqliteBus, sqliteEventStore, sqliteReadModels, sqliteUserKeys } from '@gantry/embedded'
import { gateway, gatewaySettings } from '@gantry/gateway'
import { identityService, identitySettings } from '@gantry/identity'
import { type Admit, httpServer, localPeers, plainKey } from '@gantry/service-runtime'
import { pino } from 'pino'
import { Registry } from 'prom-client'

/**
 * Catalog, identity and the gateway in one process, on stores in FOLDER. The operations with authentication are under
 * /guarded, those of catalog without authentication under /open.
 */
const { PORT, FOLDER = '', PASSWORD = '' } = process.env
const log = pino({ level: 'silent' })
const metrics = new Registry()
const dependencies = {
  eventStore: sqliteEventStore({ path: join(FOLDER, 'events.db'), exclusive: true }),
  readModels: sqliteReadModels({ path: join(FOLDER, 'read-models.db'), exclusive: true }),
  userKeys: sqliteUserKeys({ path: join(FOLDER, 'user-keys.db') }),
  bus: sqliteBus({ path: join(FOLDER, 'messages.db') }),
  now: () => new Date(),
  newId: randomUUID,
  encryptionKeys: plainKey(Buffer.alloc(32, 7)),
  process: { holder: 'bench', log, metrics, peers: localPeers() },
}
const identity = identityService(dependencies, identitySettings.parse({}))
const catalog = catalogService(dependencies, catalogSettings.parse({}))
const edge = gateway({ ...dependencies, ...dependencies.process }, gatewaySettings.parse({}))
const anyone = {
  userId: '22222222-2222-4222-8222-222222222222',
  username: 'anyone',
  role: 'GLOBAL_ADMIN' as const,
  scopes: [...SCOPES],
  kind: 'login' as const,
  tokenId: null,
  credentialId: 'login-1',
  expiresAt: Number.MAX_SAFE_INTEGER,
}
const admitAnyone: Admit = () => anyone

const waitingFor = () => identity.waitingFor() ?? catalog.waitingFor()
const app = httpServer({ basePath: '', log, metrics, now: dependencies.now, notReadyReason: waitingFor })
await app.register(
  async scope => {
    await edge.edge(scope)
    await identity.routes(scope, edge.admit)
    await catalog.routes(scope, edge.admit)
  },
  { prefix: '/guarded' },
)
await app.register(
  async scope => {
    // Adds the same headers as under /guarded.
    await gateway({ ...dependencies, ...dependencies.process }, gatewaySettings.parse({})).edge(scope)
    await catalog.routes(scope, admitAnyone)
  },
  { prefix: '/open' },
)
app.get('/', async (_request, reply) => reply.code(waitingFor() === undefined ? 200 : 503).send({}))
await app.listen({ port: Number(PORT), host: '127.0.0.1' })
await Promise.all([identity, catalog, edge].map(part => part.start()))
while (waitingFor() !== undefined) await new Promise(resolve => setTimeout(resolve, 20))
await identity.ensureAdministrator({ username: 'admin', password: PASSWORD })
process.on('SIGTERM', () => process.exit(0))
