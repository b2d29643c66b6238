import type {
  Aggregate,
  CommandMetadata,
  DomainCommand,
  DomainEvent,
  Executed,
  ProjectionTarget,
} from '@gantry/event-sourcing'
import { type Dependencies, type Instrumented, ownMetadata } from '@gantry/service-runtime'
import type { Collection, Document } from '@gantry/stores'

/** Where aggregates and documents are stored, and what the commands of the service itself need. */
export type RepositoryOptions = Pick<Dependencies, 'eventStore' | 'readModels' | 'now' | 'newId'> &
  Partial<Pick<Instrumented, 'unknownEvent'>> & { projector: ProjectionTarget }

type WithoutMetadata<Command> = Command extends unknown ? Omit<Command, 'metadata'> : never

/** An aggregate with the collection of its documents. */
export class Repository<
  State,
  Command extends DomainCommand,
  Event extends DomainEvent,
  Doc extends Document,
> {
  readonly aggregate: Aggregate<State, Command, Event>
  readonly documents: Collection<Doc>
  readonly load: Aggregate<State, Command, Event>['load']
  readonly execute: Aggregate<State, Command, Event>['execute']
  readonly #options: RepositoryOptions

  constructor(
    aggregate: Aggregate<State, Command, Event>,
    documents: Collection<Doc>,
    options: RepositoryOptions,
  ) {
    this.aggregate = aggregate
    this.documents = documents
    this.load = aggregate.load
    this.execute = aggregate.execute
    this.#options = options
  }

  /** Executes a command that the service issues by itself. */
  issue(
    id: string,
    command: WithoutMetadata<Command>,
    causationId?: string,
  ): Promise<Executed<State, Event>> {
    return this.execute(id, { ...command, metadata: this.metadata(causationId) } as unknown as Command)
  }

  /** Metadata of a command that the service issues by itself. */
  metadata(causationId?: string): CommandMetadata {
    return { ...ownMetadata(this.#options, 'notifier'), ...(causationId && { causationId }) }
  }
}
