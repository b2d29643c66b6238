import type { Lag, Operation, Principal } from '@gantry/contracts'
import type { CommandMetadata, EarlyMessages, EventStore, Log } from '@gantry/event-sourcing'
import type { Bus } from '@gantry/messaging'
import type { ReadModels } from '@gantry/stores'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Registry } from 'prom-client'
import type { EncryptionKeys } from '../secrets/encryption-keys.ts'
import type { Peers } from './peers.ts'

/** The dependencies of a service: the stores, the clock, ids, and keys. */
export interface Dependencies {
  eventStore: EventStore
  readModels: ReadModels
  bus: Bus
  now(): Date
  /** A new UUID. */
  newId(): string
  /** The service derives from them the keys that it encrypts secrets with. */
  encryptionKeys: EncryptionKeys
  process: ServiceProcess
}

/** What the process of a service has for all its parts. */
export interface ServiceProcess {
  /** The name of this process as a holder of leases; unique among the replicas of a service. */
  holder: string
  log: Log
  metrics: Registry
  /** The other services. */
  peers: Peers
  /** Set where all services share this process, and no other process uses the stores. */
  alone?: {
    early: EarlyMessages
    /** Each tells how many deliveries, or events without their deliveries, are behind. Writes wait for them. */
    backlogs: (() => number)[]
  }
}

/**
 * Authenticates the caller of a request and checks that they may call the operation.
 * @returns the caller
 * @throws Refusal, e.g. unauthenticated, scope-missing, too-many-requests
 */
export type Admit = (
  request: FastifyRequest,
  reply: FastifyReply,
  operation: Operation,
) => Promise<Principal> | Principal

/** A service without an HTTP server of its own, so that several services can share a process. */
export interface Service {
  name: string
  /** Adds the operations of the service to an app. Each calls `admit` first. */
  routes(app: FastifyInstance, admit: Admit): void | Promise<void>
  /**
   * Starts all parts; with 'projectors' only the projectors, for a rebuild of the read models. Does not wait until the
   * service is ready.
   */
  start(only?: 'projectors'): Promise<void>
  /** What the service waits for before it can answer requests; undefined when it is ready. */
  waitingFor(): string | undefined
  /** The lag of its projectors, its relay and its consumers, within seconds; never throws. */
  lag(): Promise<Lag[]>
  /** Names of the projectors, for the rebuild command. */
  projectors: readonly string[]
  /**
   * Stops the workers that only work under a lease or on messages, and gives back their leases, so that another replica
   * continues. Requests are still answered.
   */
  release(): Promise<void>
  /** Stops all workers; the stores stay open. */
  stop(): Promise<void>
}

/** Metadata of a command that a service issues by itself. @param name the acting part of the service */
export function ownMetadata(
  { now, newId }: Pick<Dependencies, 'now' | 'newId'>,
  name: string,
): CommandMetadata {
  const commandId = newId()
  return { commandId, now: now().toISOString(), actor: { id: null, name }, requestId: commandId }
}
