import { DocumentTooLarge, defineCollection, type Query, ReadModelsUnavailable } from '@gantry/stores'
import type { Document } from 'mongodb'
import { afterEach, describe, expect, it } from 'vitest'
import { gridFsBlobStore } from './blobs.ts'
import { type CommandHandler, fakeServer, HELLO } from './fixtures/fake-server.ts'
import { mongoReadModels } from './read-models/read-models.ts'

interface Book {
  id: string
  title: string
}
const books = defineCollection<Book>({ name: 'test.books', version: 1, fields: { title: 'string' } })
const authors = defineCollection<Book>({ name: 'test.authors', version: 1, fields: {} })
const REPLICA_SET = { ...HELLO, setName: 'rs0', hosts: ['127.0.0.1:27017'] }

const closing: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close()
})

/** A server without documents that accepts every write, except for the given answers, and records the commands. */
async function server(answers: CommandHandler = () => undefined) {
  const asked: Document[] = []
  const started = await fakeServer((command, document) => {
    asked.push(document)
    const answer = answers(command, document)
    if (answer) return answer
    if (command === 'hello') return HELLO
    if (['find', 'aggregate', 'listIndexes'].includes(command))
      return { ok: 1, cursor: { id: 0n, ns: 'gantry.x', firstBatch: [] } }
    return { ok: 1, version: '7.0.14', n: (document.documents ?? document.updates)?.length ?? 0 }
  })
  closing.push(started.close)
  // Connects to a member of a replica set directly.
  const url = `${started.url}?directConnection=true`
  return { url, asked: (command: string) => asked.filter(document => command in document) }
}

const open = (url: string) => {
  const readModels = mongoReadModels({ url })
  closing.push(readModels.close)
  return readModels
}
const write = (number: number, title = `Book ${number}`) => ({
  collection: books,
  id: `b${number}`,
  doc: { id: `b${number}`, title },
  revision: 0,
})
const writes = (count: number) => Array.from({ length: count }, (_, number) => write(number))

describe('a write of a command', () => {
  const commands = async (revision: number, found = 1) => {
    const { url, asked } = await server(command => (command === 'update' ? { ok: 1, n: found } : undefined))
    await open(url).collection(books).put({ id: 'b', title: 'Book' }, revision)
    return ['find', 'insert', 'update'].flatMap(command =>
      asked(command)
        .filter(document => Object.values(document).includes('test.books.v1'))
        .map(() => command),
    )
  }

  it('does not read what is stored first', async () => {
    expect(await commands(0)).toEqual(['insert'])
    expect(await commands(7)).toEqual(['update'])
  })

  it('reads what is stored when there is no earlier revision', async () => {
    expect(await commands(7, 0)).toEqual(['find', 'insert', 'update'])
  })
})

describe('indexes', () => {
  const made = async (hello: Document) => {
    // The driver creates its own indexes when there are no files yet.
    const files = { id: 0n, ns: 'gantry.blobs.files', firstBatch: [{ _id: 'another' }] }
    const { url, asked } = await server((command, { find, filter }) => {
      if (command === 'hello') return hello
      return find === 'blobs.files' && !filter?.filename ? { ok: 1, cursor: files } : undefined
    })
    await open(url).collection(books).count({})
    const blobs = gridFsBlobStore({ url })
    closing.push(blobs.close)
    await blobs.put('logo', Buffer.from('png'))
    return asked('createIndexes')
  }

  it('are created with a majority of the replica set, so that one member can be down', async () => {
    const commands = await made(REPLICA_SET)
    expect(commands.map(({ createIndexes }) => createIndexes)).toEqual([
      'test.books.v1',
      'blobs.files',
      'blobs.chunks',
    ])
    for (const command of commands) expect(command.commitQuorum).toBe('majority')
  })

  it('include one of both ends of a validity', async () => {
    const { url, asked } = await server()
    const shown = defineCollection<Book>({ ...books, validity: { from: 'title', to: 'pages' } })
    await open(url).collection(shown).count({})
    const keys = asked('createIndexes').flatMap(({ indexes }) => indexes.map(({ key }: Document) => key))
    expect(keys).toContainEqual({ 'doc.pages': 1, 'doc.title': 1, live: 1 })
  })

  it('are created without a quorum on a standalone server, which would refuse it', async () => {
    const commands = await made(HELLO)
    expect(commands).toHaveLength(3)
    for (const command of commands) expect(command).not.toHaveProperty('commitQuorum')
  })
})

describe('the server', () => {
  it.each([
    ['MongoDB', {}, 1],
    ['FerretDB 1', { ferretdbVersion: 'v1.24.2' }, 0],
    ['FerretDB 2', { ferretdb: { version: 'v2.7.0' } }, 1],
  ])('%s, which answers %j, gets indexes for %i collections', async (_, extension, times) => {
    const { url, asked } = await server(command =>
      command === 'buildInfo' ? { ok: 1, version: '7.0.42', ...extension } : undefined,
    )
    await open(url).collection(books).count({})
    expect(asked('createIndexes')).toHaveLength(times)
  })
})

describe('a list', () => {
  const named = { ...books, fields: { title: 'string', tags: 'strings', pages: 'number' } } as const
  const asks = async (query: Omit<Query, 'limit'>) => {
    const { url, asked } = await server()
    await open(url)
      .collection(defineCollection<Book>(named))
      .list({ ...query, limit: 1 })
    return asked('find').at(-1)?.filter
  }

  it.each(['asc', 'desc'] as const)(
    'sorted %s has a condition on the first field of the index',
    async direction =>
      expect(await asks({ sort: [{ field: 'title', direction }] })).toEqual({
        live: true,
        'doc.title': { $ne: {} },
      }),
  )
})

describe('a large batch', () => {
  it('is written in pieces of 200, then the checkpoint', async () => {
    const { url, asked } = await server()
    await open(url).write(writes(450), { name: 'p', position: '1' })
    const inserts = asked('insert').map(({ documents }) => documents.map(({ _id }: Document) => _id))
    expect(inserts.map(({ length }) => length)).toEqual([200, 200, 50])
    expect(inserts.flat()).toEqual(writes(450).map(({ id }) => id))
    const looks = asked('find').filter(({ filter }) => filter._id?.$in)
    expect(looks.map(({ filter }) => filter._id.$in.length)).toEqual([200, 200, 50])
    expect(asked('update').map(({ update }) => update)).toEqual(['progress'])
  })

  it('stops at a piece that fails: later pieces and the checkpoint are not written', async () => {
    let inserts = 0
    const { url, asked } = await server(command => {
      if (command !== 'insert' || ++inserts !== 2) return undefined
      return { ok: 0, code: 14_031, errmsg: 'disk full' }
    })
    const written = open(url).write(writes(450), { name: 'p', position: '1' })
    await expect(written).rejects.toThrow(ReadModelsUnavailable)
    expect(asked('insert')).toHaveLength(2)
    expect(asked('update')).toEqual([])
  })

  it('writes nothing after its call has failed', async () => {
    const { url, asked } = await server((_, { insert }) =>
      insert === 'test.authors.v1' ? { ok: 0, code: 14_031, errmsg: 'disk full' } : undefined,
    )
    const author = { ...write(1), collection: authors }
    const readModels = open(url)
    await expect(readModels.write([author, ...writes(450)])).rejects.toThrow('disk full')
    const inserts = asked('insert').length
    // Commands of the failed call would arrive before or between these.
    for (let ping = 0; ping < 5; ping++) await readModels.ping()
    expect(asked('insert')).toHaveLength(inserts)
  })
})

describe('an invalid request', () => {
  it.each([10_334, 17_419, 17_420])('that the server refuses (%i) is not taken as an outage', async code => {
    const errmsg = 'Resulting document after update is larger than 16777216'
    const { url } = await server(command =>
      command === 'update' ? { ok: 1, n: 0, writeErrors: [{ index: 0, code, errmsg }] } : undefined,
    )
    const saved = open(url).checkpoints.save('p', '1')
    await expect(saved).rejects.not.toThrow(ReadModelsUnavailable)
    await expect(saved).rejects.toThrow(
      /^READ_MODEL_URL mongodb:\/\/.*: the request is invalid and would fail again: .*larger than 16777216$/,
    )
  })

  it('that the driver refuses is not taken as an outage', async () => {
    const { url } = await server(command =>
      command === 'hello' ? { ...HELLO, maxBsonObjectSize: 1_000 } : undefined,
    )
    const written = open(url).write([write(1, 'x'.repeat(2_000))])
    await expect(written).rejects.not.toThrow(ReadModelsUnavailable)
    await expect(written).rejects.toThrow(/: the request is invalid and would fail again: Document is larger/)
  })

  it('with one document that is too large reports its id and stores the others, without the checkpoint', async () => {
    const { url, asked } = await server()
    const large = write(1, 'x'.repeat(17_000_000))
    const written = open(url).write([write(0), large, write(2)], { name: 'p', position: '1' })
    await expect(written).rejects.toThrow(DocumentTooLarge)
    await expect(written).rejects.toThrow(
      /^test\.books: the document b1 has 170000\d\d bytes; the store holds at most 16760832$/,
    )
    expect(asked('insert').flatMap(({ documents }) => documents.map(({ _id }: Document) => _id))).toEqual([
      'b0',
      'b2',
    ])
    expect(asked('update')).toEqual([])
  })
})

describe('the time of the server', () => {
  const time = new Date('2026-11-21T10:00:00.000Z')
  const timeOf = async (localTime: unknown) => {
    const { url } = await server(command => (command === 'hello' ? { ...HELLO, localTime } : undefined))
    return open(url).time()
  }

  it.each([time, time.getTime()])('is read from %o', async localTime =>
    expect(await timeOf(localTime)).toEqual(time),
  )

  it.each([undefined, 'noon'])('that is %o is taken as an outage', async localTime => {
    await expect(timeOf(localTime)).rejects.toThrow(ReadModelsUnavailable)
    await expect(timeOf(localTime)).rejects.toThrow('the server does not report its time')
  })
})
