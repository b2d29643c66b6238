// Installs the servers and programs that the tests start, before any test: no time limit of a test then includes a
// compilation, and no two test files compile the same program. What cannot be installed is reported by the tests.
import { findEventStore } from './find-event-store.ts'
import { findMongo } from './find-mongo.ts'
import { findNats, findNatsServers } from './find-nats.ts'
import { findPromtool } from './find-promtool.ts'
import { findS3 } from './find-s3.ts'

await findNats({ soon: true })
await Promise.all([findNatsServers(), findEventStore(), findPromtool(), findS3()])
await findMongo()
