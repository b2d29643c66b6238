import { randomUUID } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import { ARCHIVE, NEXT } from './next-release.ts'
import type { Topology } from './topology.ts'

/** Fields that a command sets, as the caller sent them. */
export type Fields = Readonly<Record<string, unknown>>

/** A command that was sent. Its events carry its request id. */
export interface Sent {
  requestId: string
  /** Name of the phase in which it was sent. */
  phase: string
  fields: Fields
  /** Id of the version that the command created or changed. */
  version?: string | undefined
  /** Set when the response was the expected one; `refused` if that was a 409. */
  outcome?: 'done' | 'refused'
}

interface Phase {
  name: string
  /** Whether all replicas run the same release, so that readers see every update immediately. */
  alone: boolean
  /** Whether processes are being replaced. */
  replacing: boolean
}

export interface Commands {
  /** By request id. */
  readonly sent: ReadonlyMap<string, Sent>
  /** Unexpected responses, as text. */
  readonly failures: readonly string[]
  /** Sets the phase of the commands that are sent from now on. */
  enter(phase: Phase): void
  start(): void
  /** Resolves when no command is under way. */
  stop(): Promise<void>
}

const CLIENTS = 4
/** Pause between two commands of a client. While processes are replaced it leaves CPU time to those that start. */
const REST_MS = { replacing: 1_000, otherwise: 100 }
const MOST_APIS = 6

/**
 * Clients that send random commands on their own APIs, versions and webhooks, and read the result of each.
 * The seed decides what each client sends; the gateways decide which replica serves it.
 */
export function randomCommands(topology: Pick<Topology, 'send'>, seed: number): Commands {
  const wire = startWire(topology)
  let stopping = new AbortController()
  let running: Promise<unknown> = Promise.resolve()
  const clients = Array.from({ length: CLIENTS }, (_, number) => {
    let count = 0
    return client(wire, { random: randomNumbers(seed + number), next: () => `${seed}-${number}-${count++}` })
  })
  const run = async (step: () => Promise<void>) => {
    while (!stopping.signal.aborted) {
      await step().catch((error: Error) => wire.fail(`${error} ${error.cause}`))
      await setTimeout(wire.isReplacing() ? REST_MS.replacing : REST_MS.otherwise)
    }
  }
  return {
    sent: wire.sent,
    failures: wire.failures,
    enter: wire.enter,
    start() {
      stopping = new AbortController()
      running = Promise.all(clients.map(run))
    },
    async stop() {
      stopping.abort()
      await running
    },
  }
}

/** mulberry32: numbers from 0 (inclusive) to 1 (exclusive), the same for the same seed. */
function randomNumbers(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

type Wire = ReturnType<typeof startWire>

/** Sends commands and reads, and records the commands and the failures. */
function startWire(topology: Pick<Topology, 'send'>) {
  const sent = new Map<string, Sent>()
  const failures: string[] = []
  let phase: Phase = { name: '', alone: true, replacing: false }
  const fail = (said: string) => void failures.push(`${phase.name}: ${said}`)
  return {
    sent,
    failures,
    fail,
    enter(entered: Phase) {
      phase = entered
    },
    isAlone: () => phase.alone,
    isReplacing: () => phase.replacing,

    /** @returns the id in the response; empty when there is none */
    async send(method: string, path: string, expected: number, { fields = {}, version }: Partial<Sent> = {}) {
      const command: Sent = { requestId: randomUUID(), phase: phase.name, fields, version }
      sent.set(command.requestId, command)
      const answer = await topology.send(path, {
        method,
        headers: { 'x-request-id': command.requestId },
        ...(method !== 'DELETE' && { body: JSON.stringify(fields) }),
      })
      const text = await answer.text()
      if (answer.status !== expected) {
        fail(`${method} ${path}: ${answer.status} ${text}`)
        return ''
      }
      command.outcome = expected === 409 ? 'refused' : 'done'
      const { id = '' } = text === '' ? {} : (JSON.parse(text) as { id?: string })
      if (method === 'POST' && path.endsWith('/versions')) command.version = id
      return id
    },

    /** Reads what was written: these fields, with NEXT where the next release wrote them. Expects 404 without fields. */
    async read(path: string, fields?: Fields) {
      const answer = await topology.send(path)
      const body = (await answer.json()) as Fields
      const isShown = ([name, value]: [string, unknown]) =>
        typeof value === 'object' || [value, `${NEXT}${value}`].includes(body[name] as string)
      const isRight = fields
        ? answer.status === 200 && Object.entries(fields).every(isShown)
        : answer.status === 404
      if (!isRight)
        fail(`GET ${path}: ${answer.status} ${JSON.stringify(body)} after ${JSON.stringify(fields)}`)
    },
  }
}

interface Api {
  path: string
  name: string
  /** Names of its versions by path. */
  versions: Map<string, string>
}

interface Source {
  random(): number
  /** A text that is different in every call. */
  next(): string
}

const oneOf = <T>({ random }: Source, those: readonly T[]): T =>
  those[Math.floor(random() * those.length)] as T

/** Commands on an API. Most return a function that reads what they changed. */
function apiCommands(wire: Wire, source: Source) {
  const { next } = source
  const apiFields = (name: string) => ({
    name,
    displayName: next(),
    description: next(),
    status: oneOf(source, ['ACTIVE', 'INACTIVE']),
    tags: oneOf(source, [[], [], [ARCHIVE]]),
    platformType: next(),
  })
  const versionFields = (name: string) => ({
    name,
    displayName: next(),
    status: oneOf(source, ['DEVELOPMENT', 'ACTIVE', 'RETIRED']),
  })
  return {
    async create(): Promise<Api> {
      const fields = apiFields(next())
      const path = `/apis/${await wire.send('POST', '/apis', 201, { fields })}`
      await wire.read(path, fields)
      return { path, name: fields.name, versions: new Map() }
    },
    /** A name stays unique across releases. */
    createOfSameName: ({ name }: Api) => wire.send('POST', '/apis', 409, { fields: apiFields(name) }),
    async update(api: Api, name = api.name) {
      const fields = apiFields(name)
      await wire.send('PUT', api.path, 200, { fields })
      api.name = name
      return () => wire.read(api.path, fields)
    },
    async createVersion(api: Api) {
      const fields = versionFields(next())
      const path = `${api.path}/versions/${await wire.send('POST', `${api.path}/versions`, 201, { fields })}`
      api.versions.set(path, fields.name)
      return () => wire.read(path, fields)
    },
    async changeVersion(api: Api) {
      const [path, name] = oneOf(source, [...api.versions])
      const version = path.split('/').at(-1) ?? ''
      const fields = versionFields(name)
      await wire.send('PUT', path, 200, { fields, version })
      return () => wire.read(path, fields)
    },
    async deleteVersion(api: Api) {
      const [path] = oneOf(source, [...api.versions])
      api.versions.delete(path)
      await wire.send('DELETE', path, 204, { version: path.split('/').at(-1) ?? '' })
      return () => wire.read(path)
    },
    async delete({ path }: Api) {
      await wire.send('DELETE', path, 204)
      await wire.read(path)
    },
  }
}

/** @returns a function that sends the next command, or two concurrently, and reads the result */
function client(wire: Wire, source: Source): () => Promise<void> {
  const { random, next } = source
  const api = apiCommands(wire, source)
  const apis: Api[] = []
  let webhook: string | undefined

  /** The gateways send the two commands to different replicas. */
  const updateAndCreateVersion = async (chosen: Api) => {
    const wasAlone = wire.isAlone()
    const reads = await Promise.all([api.update(chosen), api.createVersion(chosen)])
    // With two releases the one that serves the version may not know the event of the update. It shows the update only
    // after the projector of the other release has processed it.
    if (wasAlone && wire.isAlone()) for (const read of reads) await read()
  }
  const useWebhook = async () => {
    const fields = {
      displayName: next(),
      url: 'https://example.com/',
      active: false,
      eventTypes: ['API_CREATED'],
    }
    if (webhook) await wire.send('PUT', webhook, 200, { fields })
    else webhook = `/webhooks/${await wire.send('POST', '/webhooks', 201, { fields })}`
    await wire.read(webhook, fields)
  }

  return async () => {
    const chosen = oneOf(source, apis)
    if (!chosen || (apis.length < MOST_APIS && random() < 0.15)) return void apis.push(await api.create())
    const chance = random()
    const hasVersions = chosen.versions.size > 0
    if (chance < 0.2) return (await api.update(chosen))()
    if (chance < 0.3) return (await api.update(chosen, next()))()
    if (chance < 0.45) return updateAndCreateVersion(chosen)
    if (chance < 0.55 || (chance < 0.7 && !hasVersions)) return (await api.createVersion(chosen))()
    if (chance < 0.65) return (await api.changeVersion(chosen))()
    if (chance < 0.7) return (await api.deleteVersion(chosen))()
    if (chance < 0.75) return void (await api.createOfSameName(chosen))
    if (chance >= 0.8) return useWebhook()
    apis.splice(apis.indexOf(chosen), 1)
    return api.delete(chosen)
  }
}
