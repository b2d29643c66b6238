import { join } from 'node:path'
import { containersRun, startContainer } from './container.ts'
import type { Found } from './engine.ts'
import { startNode, versionOfEventStore } from './event-store-command.ts'
import { startServer } from './server-process.ts'

const VERSION = '23.10.1'
/** The server has different image tags per processor architecture. */
const IMAGE = `eventstore/eventstore:${VERSION}-${process.arch === 'arm64' ? 'alpha-arm64v8' : 'jammy'}`

const insecure = (port: number) => `esdb://127.0.0.1:${port}?tls=false`

/** Path of EventStoreDB's program, for the tests that start nodes of their own. */
export const eventStoreCommand = (): string | undefined => process.env.EVENT_STORE_COMMAND || undefined

/**
 * Finds EventStoreDB by EVENT_STORE_URL or EVENT_STORE_COMMAND, or starts a container. It is in no package manager.
 * Otherwise returns the stand-in, whose description says so.
 */
export async function findEventStore(): Promise<Found & { found: true }> {
  const url = process.env.EVENT_STORE_URL
  if (url?.startsWith('esdb')) {
    return {
      found: true,
      kind: 'url',
      description: 'the EventStoreDB of EVENT_STORE_URL',
      start: async () => ({ url, stop: async () => {} }),
    }
  }
  const command = eventStoreCommand()
  if (command) {
    return {
      found: true,
      kind: 'path',
      description: `EventStoreDB ${await versionOfEventStore(command)} of EVENT_STORE_COMMAND`,
      start: options => startNode(command, options),
    }
  }
  if (await containersRun()) {
    return {
      found: true,
      kind: 'docker',
      description: `EventStoreDB ${VERSION} in a container (${IMAGE})`,
      start: ({ args = [] } = {}) =>
        startContainer({
          image: IMAGE,
          port: 2113,
          command: ['--insecure', '--run-projections=None', ...args],
          url: insecure,
          ready: /IS LEADER/,
        }),
    }
  }
  return eventStoreStandIn()
}

/** How to get the real server, in one line. */
export const HOW_TO_HAVE_EVENT_STORE =
  'set EVENT_STORE_COMMAND=/usr/bin/eventstored or EVENT_STORE_URL=esdb://host:2113?tls=false, or run Docker'

/** The stand-in for EventStoreDB, as a separate process that keeps its events in a file. */
function eventStoreStandIn(): Found & { found: true } {
  return {
    found: true,
    kind: 'stand-in',
    description: 'a stand-in for EventStoreDB',
    start: ({ args = [], folder } = {}) =>
      startServer(
        {
          command: process.execPath,
          args: (port, data) => [
            join(import.meta.dirname, 'esdb-stand-in-main.ts'),
            ...['--port', String(port), '--data', data],
            ...args,
          ],
          url: insecure,
          ready: /stand-in/,
        },
        { folder },
      ),
  }
}
