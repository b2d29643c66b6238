import { initiateReplicaSet } from '@gantry/stores-mongo/testing'
import { containersRun, startContainer } from './container.ts'
import type { Engine, Found } from './engine.ts'
import { FERRETDB, ferretDb } from './ferretdb.ts'
import { onPath, run } from './program.ts'
import { startServer } from './server-process.ts'

const IMAGE = 'mongo:7.0.40'
const REPLICA_SET = ['--replSet', 'rs0']
const READY = /Waiting for connections/

const HOW =
  'set READ_MODEL_URL=mongodb://host:27017/gantry, run Docker, or put mongod 5.0 or newer (or Go 1.24, for FerretDB) on ' +
  'the PATH'

/** Finds MongoDB: READ_MODEL_URL, a container, or the PATH. Otherwise compiles FerretDB, which speaks its protocol. */
export async function findMongo(): Promise<Found> {
  const url = process.env.READ_MODEL_URL
  if (url && /^mongodb(\+srv)?:/.test(url)) {
    return {
      found: true,
      kind: 'url',
      description: 'the MongoDB of READ_MODEL_URL',
      start: async () => ({ url, stop: async () => {} }),
    }
  }
  if (await containersRun()) {
    return {
      found: true,
      kind: 'docker',
      description: `MongoDB in a container (${IMAGE})`,
      start: async ({ args = [] } = {}) =>
        initiated(
          await startContainer({
            image: IMAGE,
            port: 27017,
            command: [...REPLICA_SET, '--bind_ip_all', ...args],
            url: mongoUrl,
            ready: READY,
          }),
        ),
    }
  }
  return (await mongod()) ?? (await ferret()) ?? { found: false, how: HOW }
}

/** The client talks to one member of a replica set directly, whatever address the members know it by. */
const mongoUrl = (port: number) => `mongodb://127.0.0.1:${port}/gantry?directConnection=true`

async function initiated(engine: Engine): Promise<Engine> {
  try {
    await initiateReplicaSet(engine.url)
    return engine
  } catch (error) {
    await engine.stop()
    throw error
  }
}

async function mongod(): Promise<Found | undefined> {
  const path = await onPath('mongod')
  if (!path) return undefined
  const [, version = ''] =
    /db version v(\S+)/.exec(await run(path, ['--version'], { timeoutMs: 10_000 }).catch(() => '')) ?? []
  if (Number.parseInt(version, 10) < 5) return undefined
  return {
    found: true,
    kind: 'path',
    description: `mongod ${version} on the PATH`,
    start: async ({ args = [], folder } = {}) =>
      initiated(
        await startServer(
          {
            command: path,
            args: (port, data) => [
              ...REPLICA_SET,
              ...['--dbpath', data, '--bind_ip', '127.0.0.1', '--port', `${port}`],
              ...args,
            ],
            url: mongoUrl,
            ready: READY,
          },
          { folder },
        ),
      ),
  }
}

async function ferret(): Promise<Found | undefined> {
  const path = await ferretDb()
  if (!path) return undefined
  return {
    found: true,
    kind: 'installed',
    description: `FerretDB ${FERRETDB} over SQLite, compiled with Go, in place of MongoDB`,
    start: ({ folder } = {}) =>
      startServer(
        {
          command: path,
          args: (port, data) => [`127.0.0.1:${port}`, data],
          url: port => `mongodb://127.0.0.1:${port}/gantry`,
          ready: /^mongodb:/,
        },
        { folder },
      ),
  }
}
