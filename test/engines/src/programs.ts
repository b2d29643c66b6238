// Installs the servers and programs that the tests start, before any test: no time limit of a test then includes a
// compilation, and no two test files compile the same program. What cannot be installed is reported by the tests.
import { findMongo } from './find-mongo.ts'
import { findDebianNats, findNats } from './find-nats.ts'
import { findPromtool } from './find-promtool.ts'
import { findS3 } from './find-s3.ts'

// The compilations one after the other: each uses all cores.
await Promise.all([findDebianNats(), findPromtool(), findS3(), findNats().then(findMongo)])
