import { DatabaseSync } from 'node:sqlite'
import Fastify from 'fastify'

/**
 * Baseline for the service: a bare Fastify that responds with the same JSON from memory (ANSWER), and that inserts the
 * same row durably into SQLite (DATABASE) with one commit per request.
 */
const { PORT, ANSWER, DATABASE } = process.env
const app = Fastify()
const answer: unknown = ANSWER ? JSON.parse(ANSWER) : { ok: true }
app.get('/', async () => answer)
if (DATABASE) {
  const db = new DatabaseSync(DATABASE)
  db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL')
  db.exec('CREATE TABLE apis (id TEXT PRIMARY KEY, name TEXT UNIQUE, body TEXT)')
  const insert = db.prepare('INSERT INTO apis VALUES (?, ?, ?)')
  app.post<{ Body: { name: string } }>('/', async (request, reply) => {
    const id = crypto.randomUUID()
    const record = { id, ...request.body, createdAt: new Date().toISOString() }
    insert.run(id, request.body.name, JSON.stringify(record))
    return reply.code(201).send(record)
  })
}
await app.listen({ port: Number(PORT), host: '127.0.0.1' })
process.on('SIGTERM', () => process.exit(0))
