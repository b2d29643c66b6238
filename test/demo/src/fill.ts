import type { Client } from './client.ts'
import { draw } from './drawing.ts'
import type { PublicApi } from './public-apis.ts'

interface Existing {
  id: string
  name: string
  displayName: string
  description: string | null
  url: string | null
  status: string
  tags: string[]
  hasImage: boolean
}

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
  client: Client,
  apis: readonly PublicApi[],
  progress: (done: number) => void,
): Promise<Filled> {
  const existing = await existingApis(client)
  const filled: Filled = { created: 0, updated: 0, unchanged: 0 }
  let done = 0
  await forEach(apis, AT_ONCE, async api => {
    filled[await bring(client, api, existing.get(api.name))]++
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

export async function existingApis(client: Client): Promise<Map<string, Existing>> {
  const found = new Map<string, Existing>()
  for (let page = 1, last = false; !last; page++) {
    const { body } = await client.call<{ content: Existing[]; last: boolean }>(
      'GET',
      `/apis?page=${page}&size=100`,
    )
    for (const api of body.content) found.set(api.name, api)
    last = body.last
  }
  return found
}

async function bring(
  client: Client,
  { version, ...input }: PublicApi,
  existing: Existing | undefined,
): Promise<keyof Filled> {
  let outcome: keyof Filled = 'unchanged'
  let api = existing
  if (!api) {
    api = (await client.call<Existing>('POST', '/apis', input)).body
    outcome = 'created'
  } else if (!sameAs(api, input)) {
    await client.call('PUT', `/apis/${api.id}`, input)
    outcome = 'updated'
  }
  const versions = `/apis/${api.id}/versions`
  const known =
    existing &&
    (await client.call('GET', `${versions}/${encodeURIComponent(version)}`, undefined, { absent: true }))
  if (known?.status !== 200) {
    await client.call('POST', versions, { name: version, status: 'ACTIVE' })
    if (existing) outcome = 'updated'
  }
  if (!api.hasImage) {
    const form = new FormData()
    form.set('file', new Blob([draw(api.name)], { type: 'image/svg+xml' }), 'image.svg')
    await client.call('PUT', `/apis/${api.id}/image`, form)
    if (existing) outcome = 'updated'
  }
  return outcome
}

const sameAs = (api: Existing, input: Omit<PublicApi, 'version'>) =>
  api.displayName === input.displayName &&
  api.description === input.description &&
  api.url === input.url &&
  api.status === input.status &&
  JSON.stringify(api.tags) === JSON.stringify(input.tags)
