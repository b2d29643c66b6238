import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  changePassword,
  createUser,
  listApis,
  login,
  logout,
  type Operation,
  type Principal,
  Refusal,
  requests,
} from '@gantry/contracts'
import { sqliteBus } from '@gantry/embedded'
import type { Bus } from '@gantry/messaging'
import { callerOf, httpServer, localPeers, type Peers, routeOf } from '@gantry/service-runtime'
import type { FastifyInstance } from 'fastify'
import { pino } from 'pino'
import { Registry } from 'prom-client'
import { type Gateway, gateway } from '../app.ts'
import { gatewaySettings, serverOptions } from '../settings.ts'

export const grace: Principal = {
  userId: '22222222-2222-4222-8222-222222222222',
  username: 'grace',
  role: 'USER',
  scopes: ['API_READ', 'AUDIT_LOG_READ'],
  kind: 'login',
  tokenId: null,
  credentialId: 'login-1',
  expiresAt: Date.parse('2026-11-21T10:30:00.000Z'),
}
const ada: Principal = { ...grace, userId: '33333333-3333-4333-8333-333333333333', username: 'ada' }

/** A substitute for the identity service, with a table of credentials. */
interface Identity {
  /** The principal of each credential. */
  principals: Map<string, Principal>
  /** The credentials of all requests, in order. */
  asked: string[]
  /** Responses wait until this resolves; they have the state at the time of the request. */
  held: Promise<void>
  leave(): void
}

export interface EdgeHost {
  app: FastifyInstance
  /** Folder of the bus. */
  folder: string
  bus: Bus
  peers: Peers
  gateway: Gateway
  identity: Identity
  /** Calls an operation: GET /apis (API_READ), POST /users (USER_WRITE), POST /logout (authenticated), POST /login (public). */
  call(operation: Operation, headers?: Record<string, string>, address?: string): Promise<Called>
  close(): Promise<void>
}

interface Called {
  status: number
  headers: Record<string, unknown>
  body: { code?: string; detail?: string } & Record<string, unknown>
}

export interface EdgeOptions {
  settings?: Record<string, string>
  basePath?: string
}

/** A gateway on an embedded bus, in front of routes that respond with the name of the caller. */
export async function hostEdge({ settings = {}, basePath = '' }: EdgeOptions = {}): Promise<EdgeHost> {
  const folder = await mkdtemp(join(tmpdir(), 'gantry-gateway-'))
  const bus = sqliteBus({ path: join(folder, 'messages.db') })
  const peers = localPeers()
  const log = pino({ level: 'silent' })
  const now = () => new Date()
  const read = gatewaySettings.parse(settings)
  const metrics = new Registry()
  const edge = gateway({ bus, peers, now, metrics }, read)
  const app = httpServer({
    basePath,
    log,
    metrics,
    now,
    notReadyReason: () => undefined,
    ...serverOptions(read),
  })
  await app.register(
    async scope => {
      await edge.edge(scope)
      for (const operation of [listApis, changePassword, createUser, login, logout])
        scope.route({
          ...routeOf(operation, edge.admit),
          handler: async request => ({ caller: callerOf(request)?.username }),
        })
    },
    { prefix: basePath },
  )
  await app.ready()
  const identity = standIn(peers)
  await edge.start()
  return {
    app,
    folder,
    bus,
    peers,
    gateway: edge,
    identity,
    async call({ method, path }, headers = {}, address = '192.0.2.1') {
      const answer = await app.inject({ method, url: `${basePath}${path}`, headers, remoteAddress: address })
      return { status: answer.statusCode, headers: answer.headers, body: answer.json() }
    },
    async close() {
      await app.close()
      await edge.stop()
      await bus.close()
      await rm(folder, { recursive: true })
    },
  }
}

export const bearer = (credential: string) => ({ authorization: `Bearer ${credential}` })

function standIn(peers: Peers): Identity {
  const identity: Identity = {
    principals: new Map([
      ['grace-1', grace],
      ['grace-2', { ...grace, kind: 'accessToken', tokenId: '44444444-4444-4444-8444-444444444444' }],
      ['ada-1', ada],
    ]),
    asked: [],
    held: Promise.resolve(),
    leave: peers.answer(requests.authenticate, async ({ credential }) => {
      const principal = identity.principals.get(credential)
      identity.asked.push(credential)
      await identity.held
      if (!principal) throw new Refusal('unauthenticated', { detail: 'There is no such token' })
      return principal
    }),
  }
  return identity
}
