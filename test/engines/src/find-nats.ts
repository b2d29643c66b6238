import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { containersRun, startContainer } from './container.ts'
import { unpackDebianPackage } from './debian.ts'
import type { Found } from './engine.ts'
import { CACHE, isThere, onPath, run } from './program.ts'
import { startServer } from './server-process.ts'

/** The version that is installed with Go or run with Docker. */
const VERSION = '2.12.15'
const OLDEST = [2, 9] as const
const IMAGE = `nats:${VERSION}-alpine`
const READY = /Server is ready/
const COMPILE_MS = 900_000

/** How to get NATS, in one line. */
const HOW_TO_HAVE_NATS =
  'set MESSAGING_URL=nats://host:4222, run Docker, or put nats-server 2.9 or newer on the PATH ' +
  `(apt-get install nats-server; go install github.com/nats-io/nats-server/v2@v${VERSION})`

export interface FindNatsOptions {
  /** Prefers an existing server or Debian's package to a compilation, even if it is older. Default: false. */
  soon?: boolean
}

/** Finds NATS with JetStream: MESSAGING_URL, a container, the PATH, or an installation with Go or from Debian's package. */
export async function findNats({ soon = false }: FindNatsOptions = {}): Promise<Found> {
  const url = process.env.MESSAGING_URL
  if (url && /^(nats|tls):/.test(url)) {
    return {
      found: true,
      kind: 'url',
      description: 'the NATS of MESSAGING_URL',
      start: async () => ({ url, stop: async () => {} }),
    }
  }
  if (await containersRun()) {
    return {
      found: true,
      kind: 'docker',
      description: `NATS ${VERSION} in a container (${IMAGE})`,
      start: ({ args = [] } = {}) =>
        startContainer({ image: IMAGE, port: 4222, command: ['-js', ...args], url: natsUrl, ready: READY }),
    }
  }
  const there = await onPath('nats-server')
  const installedThere = there && (await program(there, 'path', 'on the PATH'))
  if (installedThere) return installedThere
  if (!soon) return (await installed(withGo)) ?? (await findDebianNats())
  return (
    (await installedBefore(withGo)) ??
    (await installed(fromDebian)) ??
    (await installed(withGo)) ?? { found: false, how: HOW_TO_HAVE_NATS }
  )
}

/** The oldest version that the adapter supports, from Debian 12, if Debian's packages are available. */
export async function findDebianNats(): Promise<Found> {
  return (await installed(fromDebian)) ?? { found: false, how: HOW_TO_HAVE_NATS }
}

/** Why `sync_interval`, which the configurations in deploy/ set, is not available; undefined when it is. */
export function lacksSyncInterval(found: Found): string | undefined {
  if (!found.found) return `there is no NATS: ${found.how}`
  if (!found.version) return 'needs nats-server as a program, on the PATH or installed'
  const { major, minor } = found.version
  return major > 2 || minor >= 10 ? undefined : `${found.description} does not know sync_interval: needs 2.10`
}

const natsUrl = (port: number) => `nats://127.0.0.1:${port}`

async function program(path: string, kind: 'path' | 'installed', origin: string): Promise<Found | undefined> {
  const version = /v?(\d+)\.(\d+)\.\S+/.exec(await run(path, ['--version'], { timeoutMs: 10_000 }))
  const [text = '', major, minor] = version ?? []
  if (Number(major) < OLDEST[0] || (Number(major) === OLDEST[0] && Number(minor) < OLDEST[1]))
    return undefined
  return {
    found: true,
    kind,
    version: { major: Number(major), minor: Number(minor) },
    description: `nats-server ${text.replace('v', '')} ${origin}`,
    start: ({ args = [], folder } = {}) =>
      startServer(
        {
          command: path,
          args: (port, data) => ['-js', '-sd', data, '-a', '127.0.0.1', '-p', `${port}`, ...args],
          url: natsUrl,
          ready: READY,
        },
        { folder },
      ),
  }
}

interface Source {
  /** Program that the installation needs. */
  tool: string
  /** Folder in the cache. */
  folder: string
  /** Path of the program in the folder. */
  program: string
  origin: string
  install(folder: string): Promise<unknown>
}

const withGo: Source = {
  tool: 'go',
  folder: `nats-server-${VERSION}`,
  program: 'nats-server',
  origin: 'installed with Go',
  install: folder =>
    // With the flag of the other programs, which so use the same compiled standard library.
    run('go', ['install', '-trimpath', `github.com/nats-io/nats-server/v2@v${VERSION}`], {
      env: { GOBIN: folder },
      timeoutMs: COMPILE_MS,
      doing: `compiling nats-server ${VERSION} with Go, once, for a minute or two`,
    }),
}

const fromDebian: Source = {
  tool: 'apt-get',
  folder: 'nats-server-debian',
  program: 'usr/sbin/nats-server',
  origin: "of Debian's package",
  install: folder => unpackDebianPackage('nats-server', folder),
}

/** A server that an earlier run installed; undefined if there is none. */
async function installedBefore({ folder, program: name, origin }: Source): Promise<Found | undefined> {
  const path = join(CACHE, folder, name)
  return (await isThere(path)) ? program(path, 'installed', origin) : undefined
}

/** A server that is installed now or was before; undefined, after a line with the reason, if the installation fails. */
async function installed({
  tool,
  folder,
  program: name,
  origin,
  install,
}: Source): Promise<Found | undefined> {
  const home = join(CACHE, folder)
  const path = join(home, name)
  if (!(await isThere(path))) {
    if (!(await onPath(tool))) return undefined
    await mkdir(CACHE, { recursive: true })
    const making = await mkdtemp(join(CACHE, 'making-'))
    try {
      await install(making)
      // The rename is atomic for processes that install at the same time. The first one wins.
      await rename(making, home).catch(async error => {
        if (!(await isThere(path))) throw error
      })
    } catch (error) {
      process.stderr.write(`nats-server could not be installed with ${tool}: ${(error as Error).message}\n`)
      return undefined
    } finally {
      await rm(making, { recursive: true, force: true })
    }
  }
  return program(path, 'installed', origin)
}
