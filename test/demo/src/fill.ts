import { type GantryClient, ProblemError, type Schemas } from '@gantry/client'
import { draw } from './drawing.ts'
import type { PublicApi } from './public-apis.ts'

type Api = Schemas['Api']

export interface Filled {
  created: number
  updated: number
  unchanged: number
}

const AT_ONCE = 16

/**
 * Adds the APIs, each with a version and an image, to a running service. Existing ones are updated only if they differ, so
 * that a repeated run changes nothing and completes an interrupted one.
 * @param progress called after each API with the number of APIs that are done
 */
export async function fill(
  gantry: GantryClient,
  apis: readonly PublicApi[],
  progress: (done: number) => void,
): Promise<Filled> {
  const existing = await existingApis(gantry)
  const filled: Filled = { created: 0, updated: 0, unchanged: 0 }
  let done = 0
  await forEach(apis, AT_ONCE, async api => {
    filled[await bring(gantry, api, existing.get(api.name))]++
    progress(++done)
  })
  return filled
}

/** Works on the items in their order, on several at once. */
export async function forEach<Item>(
  items: readonly Item[],
  atOnce: number,
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const waiting = items.values()
  const next = async () => {
    for (const item of waiting) await work(item)
  }
  await Promise.all(Array.from({ length: atOnce }, next))
}

/** All APIs by name. */
export async function existingApis(gantry: GantryClient): Promise<Map<string, Api>> {
  const all = await gantry.listApis.all().toArray()
  return new Map(all.map(api => [api.name, api]))
}

async function bring(
  gantry: GantryClient,
  { version, ...input }: PublicApi,
  existing: Api | undefined,
): Promise<keyof Filled> {
  let outcome: keyof Filled = 'unchanged'
  let api = existing
  if (!api) {
    api = (await gantry.createApi({ body: input })).body
    outcome = 'created'
  } else if (!sameAs(api, input)) {
    await gantry.updateApi({ api_id: api.id, body: input })
    outcome = 'updated'
  }
  const api_id = api.id
  if (!existing || !(await hasVersion(gantry, api_id, version))) {
    await gantry.createVersion({ api_id, body: { name: version, status: 'ACTIVE' } })
    if (existing) outcome = 'updated'
  }
  if (!api.hasImage) {
    await gantry.uploadImage({ api_id, body: draw(api.name) })
    if (existing) outcome = 'updated'
  }
  return outcome
}

async function hasVersion(gantry: GantryClient, api_id: string, version_id: string): Promise<boolean> {
  try {
    await gantry.getVersion({ api_id, version_id })
    return true
  } catch (error) {
    if (error instanceof ProblemError && error.code === 'version-not-found') return false
    throw error
  }
}

const sameAs = (api: Api, input: Omit<PublicApi, 'version'>) =>
  api.displayName === input.displayName &&
  api.description === input.description &&
  api.url === input.url &&
  api.status === input.status &&
  JSON.stringify(api.tags) === JSON.stringify(input.tags)
