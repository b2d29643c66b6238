// Appends every public event to a file, one JSON document per line, from the stream GANTRY of NATS JetStream.
// npm install nats
// NATS_URL=tls://nats.example:4222 NATS_USER=audit NATS_PASSWORD=… node consumer.mjs events.ndjson
import { appendFile, readFile, truncate } from 'node:fs/promises'
import { setTimeout } from 'node:timers/promises'
import { AckPolicy, connect } from 'nats'

const {
  NATS_URL: servers = 'nats://localhost:4222',
  NATS_USER: user,
  NATS_PASSWORD: pass,
  NATS_CA: ca,
} = process.env
const [file] = process.argv.slice(2)
const CONSUMER = 'audit'
const PAUSE_MS = 1_000

/** The identity of the log of the events in the file, and the log position of the last one of each service. An incomplete last line is removed. */
async function lastPositions() {
  const bytes = await readFile(file).catch(() => Buffer.alloc(0))
  const end = bytes.lastIndexOf('\n') + 1
  if (end < bytes.length) await truncate(file, end)
  const lines = bytes.subarray(0, end).toString().split('\n').filter(Boolean)
  const records = lines.map(line => JSON.parse(line))
  const last = new Map(records.map(({ service, logPosition }) => [service, logPosition]))
  return { log: records.at(-1)?.log, last }
}

async function consume() {
  let { log, last } = await lastPositions()
  const connection = await connect({
    servers,
    ...(user && { user, pass }),
    ...(ca && { tls: { ca } }),
    inboxPrefix: '_INBOX.audit',
  })
  try {
    const manager = await connection.jetstreamManager({ checkAPI: false })
    // One message at a time, so that a message that is delivered again comes before all later ones.
    await manager.consumers.add('GANTRY', {
      name: CONSUMER,
      durable_name: CONSUMER,
      filter_subject: 'events.>',
      ack_policy: AckPolicy.Explicit,
      max_ack_pending: 1,
    })
    const consumer = await connection.jetstream({ checkAPI: false }).consumers.get('GANTRY', CONSUMER)
    for await (const message of await consumer.consume()) {
      const [, service] = message.subject.split('.')
      const logPosition = message.headers.get('log-position')
      const identity = message.headers.get('log-identity')
      // Positions of two logs cannot be compared: an operator has to decide how to continue.
      if (log && identity !== log) {
        console.error(`The log of ${file} was replaced: move the file away to begin with the new log`)
        process.exit(1)
      }
      log = identity
      // A message that is delivered or published again is not after the last one of its service.
      if (logPosition > (last.get(service) ?? '')) {
        await appendFile(file, `${JSON.stringify({ service, log, logPosition, event: message.json() })}\n`)
        last.set(service, logPosition)
      }
      message.ack()
    }
  } finally {
    await connection.close()
  }
}

for (;;) {
  await consume().catch(error => console.error(error.message))
  await setTimeout(PAUSE_MS)
}
