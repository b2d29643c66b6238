import { setTimeout } from 'node:timers/promises'
import { isResolved, originsBehind, systemResolve } from '@gantry/hosting'
import { basePath, origins, RELEASE, RELEASE_HEADER, readSettings } from '@gantry/service-runtime'
import { z } from 'zod'
import { WrongUsage } from './command.ts'

export const USAGE = 'usage: gantry await-services'
const POLL_MS = 1_000
const TIMEOUT_MS = 2_000

/** The settings of the gateway that name the services. */
const settingsSchema = z.object({
  BASE_PATH: basePath.default(''),
  CATALOG_URL: origins,
  IDENTITY_URL: origins,
  MEDIA_URL: origins,
  NOTIFIER_URL: origins,
})

/**
 * Waits until every replica of the services that answers has this release or a newer one, and at least one of each service
 * answers. A gateway that starts afterwards sends no operation to a service that does not know it.
 */
export async function run(args: string[], environment: NodeJS.ProcessEnv): Promise<number> {
  if (args.length > 0) throw new WrongUsage(USAGE)
  const { BASE_PATH, ...services } = readSettings(settingsSchema, environment)
  let printed: string | undefined
  for (;;) {
    const reasons = await Promise.all(
      Object.entries(services).map(([setting, urls]) => reasonToWait(setting, urls, BASE_PATH)),
    )
    const waiting = reasons.filter(reason => reason !== undefined).join('; ')
    if (waiting === '') return 0
    if (waiting !== printed) process.stdout.write(`waits for ${waiting}\n`)
    printed = waiting
    await setTimeout(POLL_MS)
  }
}

/** @returns undefined when the replicas of a service have this release or a newer one */
async function reasonToWait(setting: string, urls: readonly string[], base: string) {
  const replicas = (await Promise.all(urls.map(replicasOf))).flat()
  const answers = await Promise.all(replicas.map(origin => releaseOf(`${origin}${base}/health/ready`)))
  const releases = answers.filter(release => release !== undefined)
  if (releases.length === 0) return `${setting}: no replica answers`
  const older = releases.find(release => isOlder(release, RELEASE))
  return older && `${setting}: a replica has release ${older}, not ${RELEASE}`
}

/** The origins of all replicas behind a URL; none while its name cannot be resolved. */
const replicasOf = async (url: string): Promise<readonly string[]> =>
  isResolved(url) ? originsBehind(url, systemResolve).catch(() => []) : [url]

/** @returns undefined when the replica does not answer */
async function releaseOf(url: string): Promise<string | undefined> {
  try {
    const { headers, body } = await fetch(url, { signal: AbortSignal.timeout(TIMEOUT_MS) })
    await body?.cancel()
    return headers.get(RELEASE_HEADER) ?? undefined
  } catch {
    return undefined
  }
}

const NUMBERS = /^(\d+)\.(\d+)\.(\d+)/

/** Compares major, minor and patch version. What is not a version is older than every version. */
function isOlder(release: string, than: string): boolean {
  const [, ...own] = NUMBERS.exec(release) ?? ['', '-1']
  const [, ...other] = NUMBERS.exec(than) ?? []
  const index = own.findIndex((number, at) => number !== other[at])
  return index >= 0 && Number(own[index]) < Number(other[index])
}
