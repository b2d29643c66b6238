import { nameUuids, type RecordedEvent } from '@gantry/event-sourcing'
import type { Message } from '@gantry/messaging'
import type { BlobStore } from '@gantry/read-models'
import { type Dependencies, httpServer, requireScope, type Service } from '@gantry/service-kit'
import { administrator } from '@gantry/service-kit/testing'
import { pino } from 'pino'
import { Registry } from 'prom-client'
import type { Caller } from './calls.ts'
import type { Ports } from './ports.ts'
import type { Stores } from './stores.ts'

/** What a history asks for; what it comes to depends on what is in the log by then. */
export interface Wish {
  kind: string
  /** Which of the resources that there are. */
  target: number
  /** Which of a few names. */
  name: number
  /** Which variant of the request. */
  variant: number
}

/** A wish, and the log as it is when it is made. */
export interface Asked extends Wish {
  log: readonly RecordedEvent[]
  /** The stream id of the target in a category; undefined while there is none. */
  id(category: string): string | undefined
}

export interface Request {
  method: 'POST' | 'PUT' | 'DELETE'
  url: string
  payload?: object | Buffer
  headers?: Record<string, string>
  /**
   * Where the resource can be read afterwards: the Location of the answer, unless it is said; null where it is gone as
   * soon as another is, which may happen at any time.
   */
  readAt?: string | null
}

export interface ServiceUnderTest {
  name: string
  make(dependencies: Dependencies & { blobs: BlobStore }): Service
  /** Requests, or messages of other services, by kind; undefined where there is nothing to ask for. */
  wishes: Readonly<Record<string, (asked: Asked) => Request | Message | undefined>>
  /** Kinds that are asked for before a history begins, so that there is something to go on with. */
  first: readonly string[]
  /** Kinds that are asked for more often than the others. */
  often: readonly string[]
  /** Fields of an answer that other services contribute, so that the next answer may differ. */
  contributed?: readonly string[]
  /** Brings the stores into the state before the history, and attaches what stands for other services. */
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

/** Streams of histories are shorter. */
export const NO_SNAPSHOTS = 1_000_000

const LOG = pino({ level: 'silent' })
const uuid = nameUuids('4f0f3a52-6c0e-4a55-9a0e-2d5d7a0c9d11')

/** A process of the service, as far as its code goes. Its ids follow from its name. */
export async function openReplica(
  { make }: ServiceUnderTest,
  ports: Ports,
  caller: Caller,
  snapshotEvery: number,
): Promise<Replica> {
  let made = 0
  const metrics = new Registry()
  const now = () => new Date()
  const service = make({
    ...ports,
    now,
    newId: () => uuid(`${caller.name}/${made++}`),
    log: LOG,
    holder: caller.name,
    encryptionKey: Buffer.alloc(32, 7),
    metrics,
    snapshotEvery,
  })
  const waitingFor = () => service.waitingFor()
  const app = httpServer({ basePath: '', log: LOG, metrics, now, waitingFor })
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
