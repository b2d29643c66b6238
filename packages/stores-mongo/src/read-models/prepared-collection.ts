import type { CollectionDefinition, Document } from '@gantry/stores'
import type { Collection } from 'mongodb'
import type { Connection } from '../connection/connection.ts'
import type { Server } from '../connection/server.ts'
import { collectionName, prepare } from './prepare.ts'
import type { StoredDocument } from './stored-document.ts'
import { Vocabulary } from './vocabulary.ts'

/** How often a process prepares its collections again: another process may have dropped them, or declare fewer fields. */
const PREPARE_AGAIN_MS = 60_000

export interface ServerAccess {
  /** Determines the capabilities of the server. */
  server(): Promise<Server>
  /** Reads a monotonic clock, in milliseconds. */
  elapsed(): number
}

/** A collection of the database that is prepared before its first use, and again from time to time. */
export class PreparedCollection<D extends Document> {
  readonly definition: CollectionDefinition<D>
  readonly documents: Collection<StoredDocument>
  readonly vocabulary: Vocabulary
  readonly run: Connection['run']
  readonly #db: Connection['db']
  readonly #access: ServerAccess
  #prepared: Promise<Server> | undefined
  #preparedAt = 0

  constructor(definition: CollectionDefinition<D>, { db, run }: Connection, access: ServerAccess) {
    this.definition = definition
    this.documents = db.collection(collectionName(definition))
    this.vocabulary = new Vocabulary(db, collectionName(definition))
    this.run = run
    this.#db = db
    this.#access = access
  }

  /** Resolves when the collection is prepared, with the capabilities of the server. */
  ready(): Promise<Server> {
    const { elapsed } = this.#access
    if (!this.#prepared) {
      this.#preparedAt = elapsed()
      this.#prepared = this.#prepare().catch(error => {
        this.#prepared = undefined
        throw error
      })
    } else if (elapsed() - this.#preparedAt > PREPARE_AGAIN_MS) {
      this.#preparedAt = elapsed()
      this.run(() => this.#prepare()).catch(() => {})
    }
    return this.#prepared
  }

  /** To be called after the collection was dropped. */
  prepareAgain(): void {
    this.vocabulary.forget()
    this.#prepared = undefined
  }

  async #prepare(): Promise<Server> {
    const server = await this.#access.server()
    await prepare(this.#db, this.definition, server)
    return server
  }
}
