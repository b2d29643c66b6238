import { Refusal } from '@gantry/contracts'
import {
  aggregate,
  type CommandMetadata,
  type Decider,
  type Project,
  Projector,
  type SnapshotSchema,
} from '@gantry/event-sourcing'
import { defineCollection } from '@gantry/read-models'
import { type Dependencies, refusalOf, type Service } from '@gantry/service-kit'
import { administrator } from '@gantry/service-kit/testing'
import type { ServiceUnderTest } from '../replica.ts'

/** A small service whose projection writes only the documents that its events affect: a shelf and its books. */
type ShelfEvent =
  | { type: 'BookPut'; data: { book: string; title: string } }
  | { type: 'BookTaken'; data: { book: string } }
type ShelfState = ReadonlyMap<string, string>
type ShelfCommand = { metadata: CommandMetadata; book: string } & (
  | { type: 'PutBook'; title: string }
  | { type: 'TakeBook' }
)

const shelfDecider: Decider<ShelfState, ShelfCommand, ShelfEvent> = {
  initial: new Map(),
  events: { BookPut: [], BookTaken: [] },
  decide(state, command) {
    const { book } = command
    if (command.type === 'TakeBook') {
      if (!state.has(book)) throw new Refusal('not-found')
      return [{ type: 'BookTaken', data: { book } }]
    }
    if (state.get(book) === command.title) return []
    return [{ type: 'BookPut', data: { book, title: command.title } }]
  },
  evolve(state, event) {
    const next = new Map(state)
    if (event.type === 'BookPut') next.set(event.data.book, event.data.title)
    if (event.type === 'BookTaken') next.delete(event.data.book)
    return next
  },
}

const shelfSnapshots: SnapshotSchema<ShelfState> = {
  version: 1,
  encode: state => [...state],
  decode: encoded => new Map(encoded as [string, string][]),
}

interface BookDocument {
  id: string
  title: string
}
const books = defineCollection<BookDocument>({ name: 'shelf.books', version: 1, fields: {} })

const projectShelf: Project<ShelfState, ShelfEvent> = (id, { state, revision }, events) =>
  [...new Set(events.flatMap(({ data }) => data.book ?? []))].map(book => {
    const title = state.get(book)
    const document: BookDocument | null = title === undefined ? null : { id: `${id}.${book}`, title }
    return { collection: books, id: `${id}.${book}`, doc: document, revision }
  })

function shelfService(dependencies: Dependencies, snapshotEvery: number): Service {
  const { eventStore, readModels, now, newId, process } = dependencies
  const projector = new Projector({
    ...dependencies,
    ...process,
    name: 'shelf.projector',
    collections: [books],
  })
  const shelf = aggregate<ShelfState, ShelfCommand, ShelfEvent>({
    eventStore,
    category: 'shelf',
    decider: shelfDecider,
    view: { projector, project: projectShelf },
    snapshots: { schema: shelfSnapshots, every: snapshotEvery },
  })
  const collection = readModels.collection(books)
  return {
    name: 'shelf',
    projectors: ['shelf.projector'],
    lag: async () => [],
    routes(app) {
      app.setErrorHandler((error, _request, reply) => {
        const code = refusalOf(error)?.code
        return reply.code(code === 'unavailable' ? 503 : code === 'not-found' ? 404 : 500).send({ code })
      })
      const path = '/shelves/:shelf/books/:book'
      type Path = { Params: { shelf: string; book: string } }
      const metadata = (requestId: string): CommandMetadata => ({
        commandId: newId(),
        now: now().toISOString(),
        actor: { id: administrator.userId, name: administrator.username },
        requestId,
      })
      const answer = async ({ shelf, book }: Path['Params']) => {
        const stored = await collection.get(`${shelf}.${book}`)
        if (!stored) throw new Refusal('not-found')
        return stored.doc
      }
      app.get<Path>(path, async ({ params }) => answer(params))
      app.put<Path & { Body: { title: string } }>(path, async ({ id, params, body }) => {
        const command: ShelfCommand = { type: 'PutBook', book: params.book, ...body, metadata: metadata(id) }
        await shelf.execute(params.shelf, command)
        return answer(params)
      })
      app.delete<Path>(path, async ({ id, params }, reply) => {
        await shelf.execute(params.shelf, { type: 'TakeBook', book: params.book, metadata: metadata(id) })
        return reply.code(204).send()
      })
    },
    async start() {
      projector.start()
    },
    waitingFor: () => (projector.caughtUp ? undefined : 'the read models of shelf'),
    release: async () => {},
    stop: async () => projector.stop(),
  }
}

/** All requests use one shelf, so that most of them conflict. */
const book = ({ name }: { name: number }) => `/shelves/s0/books/b${name}`

export const shelf: ServiceUnderTest = {
  name: 'shelf',
  make: shelfService,
  first: [],
  often: ['put'],
  requests: {
    put: asked => ({
      method: 'PUT',
      url: book(asked),
      payload: { title: `title ${asked.variant}` },
      readAt: book(asked),
    }),
    take: asked => ({ method: 'DELETE', url: book(asked), readAt: book(asked) }),
  },
}
