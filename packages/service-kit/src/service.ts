import type { Operation, Principal } from '@gantry/contracts'
import type { EventStore, Log } from '@gantry/event-sourcing'
import type { Bus } from '@gantry/messaging'
import type { ReadModels } from '@gantry/read-models'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Registry } from 'prom-client'

/** What every service is given: the stores, and the sources of time, identity and secrets. */
export interface Dependencies {
  eventStore: EventStore
  readModels: ReadModels
  bus: Bus
  now(): Date
  /** A new UUID. */
  newId(): string
  log: Log
  /** Unique among the replicas of a service; holds leases. */
  holder: string
  /** 32 bytes from which the service derives what it encrypts secrets with. */
  encryptionKey: Uint8Array
  /** What the process tells /metrics. */
  metrics: Registry
  /** Events from one snapshot of a stream to the next, at least; 500 if it is not said. */
  snapshotEvery?: number
}

/**
 * Lets a request in or refuses it: finds out who is calling and whether the operation is allowed.
 * @throws Refusal, e.g. unauthenticated, scope-missing, too-many-requests
 */
export type Admit = (
  request: FastifyRequest,
  reply: FastifyReply,
  operation: Operation,
) => Promise<Principal> | Principal

/** A service, ready to be put behind a socket: alone in its process, or together with others. */
export interface Service {
  name: string
  /** Adds its operations; each is admitted by `admit`. */
  routes(app: FastifyInstance, admit: Admit): void | Promise<void>
  /**
   * Starts its workers: projector, relay, reactor, responders; only the projectors when the read models are all that is
   * wanted. Resolves at once.
   */
  start(only?: 'projectors'): Promise<void>
  /** What it waits for before it can answer; undefined when it is ready. */
  waitingFor(): string | undefined
  /** Names of its projectors, for the rebuild command. */
  projectors: readonly string[]
  /** Stops the workers; the stores stay open. */
  stop(): Promise<void>
}
