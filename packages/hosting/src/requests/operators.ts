import { chmod, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { DataFolderRefused } from '@gantry/embedded'
import {
  ANONYMOUS,
  httpServer,
  type LocalPeers,
  type Peers,
  passedPrincipals,
  type ServerOptions,
} from '@gantry/service-runtime'
import Fastify from 'fastify'
import { pino } from 'pino'
import { Registry } from 'prom-client'
import { answering, internalRequests, peerAt } from './internal-requests.ts'
import { referenceTime, replicas } from './replicas.ts'

/** The socket in a data folder at which the process that uses the folder answers operators. */
const socketIn = (folder: string) => join(folder, 'operators.sock')

/**
 * Answers operators at a socket in a data folder that only the user of this process can open. The process must have locked
 * the folder: it replaces the socket of a process that has died.
 * @returns function that answers no more
 * @throws DataFolderRefused when the path of the socket is too long
 */
export async function answerOperators(
  folder: string,
  peers: LocalPeers,
  about: Pick<ServerOptions, 'log' | 'now'>,
): Promise<() => Promise<void>> {
  const path = socketIn(folder)
  const app = httpServer({
    ...about,
    basePath: '',
    metrics: new Registry(),
    notReadyReason: () => undefined,
    builtIn: { routes: [] },
  })
  answering(app, peers, () => {})
  await rm(path, { force: true })
  try {
    await app.listen({ path })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EINVAL') throw error
    throw new DataFolderRefused(folder, 'has a path that is too long for a socket: use at most 90 bytes')
  }
  await chmod(path, 0o600)
  return () => app.close()
}

/** The process that uses a data folder. */
export const processOn = (folder: string): Pick<Peers, 'ask'> => peerAt(socketIn(folder))

/** The services of separate processes, as an operator asks them. */
export async function servicesAt(
  urls: Readonly<Record<string, readonly string[]>>,
  { basePath, key }: { basePath: string; key: Uint8Array },
): Promise<Pick<Peers, 'ask'>> {
  const log = pino({ level: 'silent' })
  const services = Object.fromEntries(
    Object.entries(urls).map(([name, urls]) => [
      name,
      replicas({ urls, basePath, now: () => new Date(), log }),
    ]),
  )
  const known = Object.values(services)
  await Promise.all(known.map(service => service.check()))
  // Signed requests expire, and the clock of this machine may be wrong.
  const times = known.map(service => referenceTime(service, basePath))
  const ahead = await Promise.any(times).then(
    time => time.getTime() - Date.now(),
    () => 0,
  )
  const now = () => new Date(Date.now() + ahead)
  const { sign } = await passedPrincipals(Fastify(), { key, now })
  return internalRequests({ services, basePath, pass: purpose => sign(ANONYMOUS, purpose) })
}
