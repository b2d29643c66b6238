import { nameUuids, type RecordedEvent } from '@gantry/event-sourcing'
import type { Message } from '@gantry/messaging'
import { type Dependencies, httpServer, plainKey, requireScope, type Service } from '@gantry/service-runtime'
import { administrator } from '@gantry/service-runtime/testing'
import { pino } from 'pino'
import { Registry } from 'prom-client'
import type { Caller } from './calls.ts'
import type { Ports } from './ports.ts'
import type { Stores } from './stores.ts'

/** A planned request. The request that it becomes depends on the log at that time. */
export interface PlannedRequest {
  kind: string
  /** Index of the target among the existing resources. */
  target: number
  /** Index into a few names. */
  name: number
  /** Variant of the request. */
  variant: number
}

/** A planned request with the log at the time of the request. */
export interface Asked extends PlannedRequest {
  log: readonly RecordedEvent[]
  /** Stream id of the target in a category; undefined without a stream. */
  id(category: string): string | undefined
}

export interface Request {
  method: 'POST' | 'PUT' | 'DELETE'
  url: string
  payload?: object | Buffer
  headers?: Record<string, string>
  /**
   * Where the resource can be read afterwards. Default: the Location of the answer. Null when the resource may disappear at
   * any time, together with another one.
   */
  readAt?: string | null
}

export interface ServiceUnderTest {
  name: string
  /** @param snapshotEvery minimum number of events between two snapshots of a stream */
  make(dependencies: Dependencies & Pick<Ports, 'blobs' | 'userKeys'>, snapshotEvery: number): Service
  /** Requests, or messages of other services, by kind. They return undefined when there is no target. */
  requests: Readonly<Record<string, (asked: Asked) => Request | Message | undefined>>
  /** Kinds that are requested before a history begins, so that resources exist. */
  first: readonly string[]
  /** Kinds that are requested more often than the others. */
  often: readonly string[]
  /** Fields of a response that other services contribute. They may differ in the next response. */
  contributed?: readonly string[]
  /** Prepares the stores before the history, and attaches substitutes of other services. */
  prepare?(stores: Stores): Promise<void>
}

export interface Answer {
  status: number
  location: string | undefined
  body: unknown
}

export interface Replica {
  caller: Caller
  service: Service
  call(
    method: 'GET' | Request['method'],
    url: string,
    more?: Pick<Request, 'payload' | 'headers'>,
  ): Promise<Answer>
}

/** More events than a stream of a history has. */
export const NO_SNAPSHOTS = 1_000_000

const LOG = pino({ level: 'silent' })
const uuid = nameUuids('4f0f3a52-6c0e-4a55-9a0e-2d5d7a0c9d11')

/** Opens a replica of the service in this process. Its ids are derived from its name. */
export async function openReplica(
  { make }: ServiceUnderTest,
  ports: Ports,
  caller: Caller,
  snapshotEvery: number,
): Promise<Replica> {
  let made = 0
  const metrics = new Registry()
  const now = () => new Date()
  const { peers, ...own } = ports
  const service = make(
    {
      ...own,
      now,
      newId: () => uuid(`${caller.name}/${made++}`),
      encryptionKeys: plainKey(Buffer.alloc(32, 7)),
      process: { holder: caller.name, log: LOG, metrics, peers },
    },
    snapshotEvery,
  )
  const waitingFor = () => service.waitingFor()
  const app = httpServer({ basePath: '', log: LOG, metrics, now, notReadyReason: waitingFor })
  await app.register(async scope =>
    service.routes(scope, (_request, _reply, operation) => {
      requireScope(administrator, operation)
      return administrator
    }),
  )
  await app.ready()
  return {
    caller,
    service,
    async call(method, url, { payload, headers } = {}) {
      const answer = await app.inject({
        method,
        url,
        ...(headers && { headers }),
        ...(payload && { payload }),
      })
      const json = String(answer.headers['content-type']).includes('json')
      return {
        status: answer.statusCode,
        location: answer.headers.location as string | undefined,
        body: json ? answer.json() : answer.rawPayload,
      }
    },
  }
}
