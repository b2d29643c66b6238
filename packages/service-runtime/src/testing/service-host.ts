import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Principal, SCOPES } from '@gantry/contracts'
import { sqliteBus, sqliteEventStore, sqliteReadModels, sqliteUserKeys } from '@gantry/embedded'
import type { UserKeys } from '@gantry/stores'
import type { FastifyInstance } from 'fastify'
import { pino } from 'pino'
import { Registry } from 'prom-client'
import { requireScope } from '../http/routes.ts'
import { httpServer } from '../http/server.ts'
import { plainKey } from '../secrets/encryption-keys.ts'
import { localPeers } from '../service/peers.ts'
import type { Dependencies, Service } from '../service/service.ts'

/** A caller with all scopes. */
export const administrator: Principal = {
  userId: '22222222-2222-4222-8222-222222222222',
  username: 'grace',
  role: 'GLOBAL_ADMIN',
  scopes: [...SCOPES],
  kind: 'login',
  tokenId: null,
  credentialId: '33333333-3333-4333-8333-333333333333',
  expiresAt: Number.MAX_SAFE_INTEGER,
}

/** What a service can have in tests. */
export interface HostDependencies extends Dependencies {
  userKeys: UserKeys
}

export interface Host<S extends Service> {
  app: FastifyInstance
  service: S
  dependencies: HostDependencies
  /** Folder of the stores. */
  folder: string
  /** Sets the caller of later requests. */
  actAs(principal: Principal): void
  /**
   * Stops the service and starts it again on the same stores.
   * @param whileStopped e.g. sets the clock, so that the stopping service still has the earlier time
   */
  restart(whileStopped?: () => void): Promise<void>
  close(): Promise<void>
}

export interface HostOptions {
  now?: () => Date
  /** Whether to start the workers. Default: true. With false a test sees the effect of the routes alone. */
  start?: boolean
}

/** Runs one service on the embedded stores in a temporary folder. The caller is an administrator until `actAs`. */
export async function hostService<S extends Service>(
  make: (dependencies: HostDependencies, folder: string) => S,
  { now = () => new Date(), start = true }: HostOptions = {},
): Promise<Host<S>> {
  const folder = await mkdtemp(join(tmpdir(), 'gantry-service-'))
  let caller = administrator
  const open = async () => {
    const metrics = new Registry()
    const dependencies: HostDependencies = {
      eventStore: sqliteEventStore({ path: join(folder, 'events.db') }),
      readModels: sqliteReadModels({ path: join(folder, 'read-models.db') }),
      userKeys: sqliteUserKeys({ path: join(folder, 'user-keys.db') }),
      bus: sqliteBus({ path: join(folder, 'messages.db') }),
      now,
      newId: randomUUID,
      encryptionKeys: plainKey(Buffer.alloc(32, 7)),
      process: { holder: randomUUID(), log: pino({ level: 'silent' }), metrics, peers: localPeers() },
    }
    const service = make(dependencies, folder)
    const app = httpServer({
      basePath: '',
      log: pino({ level: 'silent' }),
      metrics,
      now,
      notReadyReason: () => service.waitingFor(),
    })
    await app.register(async scope =>
      service.routes(scope, async (_request, _reply, operation) => {
        requireScope(caller, operation)
        return caller
      }),
    )
    await app.ready()
    if (start) await service.start()
    return { app, service, dependencies }
  }
  const shut = async ({
    app,
    service,
    dependencies: { eventStore, readModels, userKeys, bus },
  }: Awaited<ReturnType<typeof open>>) => {
    await app.close()
    await service.stop()
    await Promise.all([eventStore.close(), readModels.close(), userKeys.close(), bus.close()])
  }
  let running = await open()
  return {
    get app() {
      return running.app
    },
    get service() {
      return running.service
    },
    get dependencies() {
      return running.dependencies
    },
    folder,
    actAs(principal) {
      caller = principal
    },
    async restart(whileStopped = () => {}) {
      await shut(running)
      whileStopped()
      running = await open()
    },
    async close() {
      await shut(running)
      await rm(folder, { recursive: true })
    },
  }
}
