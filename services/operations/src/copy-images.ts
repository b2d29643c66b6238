import { storeSettings } from '@gantry/hosting'
import { openBlobs } from '@gantry/hosting/stores'
import { mediaSettings } from '@gantry/media'
import { readSettings } from '@gantry/service-runtime'
import { type BlobStore, ReadModelsUnavailable } from '@gantry/stores'
import { CommandFailed, notice, parsed, WrongUsage } from './command.ts'

export const USAGE = `usage: npm run copy-images -- TO [--from FROM]

Copies the bytes of images from FROM, by default the store in the settings, to TO: those that TO does not have. It deletes
nothing. Both are URLs like BLOB_URL, or "gridfs" for GridFS in READ_MODEL_URL. The AWS_... settings apply to both.`

/** Names the store that is used without BLOB_URL. */
const GRIDFS = 'gridfs'

const { BLOB_URL, READ_MODEL_URL } = storeSettings.shape
const settingsSchema = mediaSettings.extend({ BLOB_URL, READ_MODEL_URL })

export async function run(args: string[], environment: NodeJS.ProcessEnv): Promise<number> {
  const { to, ...given } = argumentsIn(args)
  const settings = readSettings(settingsSchema, environment)
  const from = given.from ?? settings.BLOB_URL ?? GRIDFS
  if (from === to) throw new CommandFailed(`${to} is the store to copy from`)
  const stores: BlobStore[] = []
  const open = (name: string) => {
    const { store } = openBlobs({ ...settings, BLOB_URL: name === GRIDFS ? undefined : name }, settings)
    stores.push(store)
    return store
  }
  try {
    await copyBlobs(open(from), open(to))
    return 0
  } catch (error) {
    // Stores report refusals as errors of several classes. These two are defects.
    if (error instanceof TypeError || error instanceof ReferenceError) throw error
    throw error instanceof ReadModelsUnavailable ? error : new CommandFailed((error as Error).message)
  } finally {
    await Promise.all(stores.map(store => store.close()))
  }
}

/** @throws WrongUsage unless both are stores of images */
function argumentsIn(args: string[]): { from: string | undefined; to: string } {
  const isStore = (name: string | undefined) => name === GRIDFS || BLOB_URL.unwrap().safeParse(name).success
  const options = { from: { type: 'string' } } as const
  const { values, positionals } = parsed(USAGE, { args, options, allowPositionals: true })
  const [to, ...others] = positionals
  const { from } = values
  if (to !== undefined && others.length === 0 && isStore(to) && (from === undefined || isStore(from)))
    return { from, to }
  throw new WrongUsage(USAGE)
}

async function copyBlobs(from: BlobStore, to: BlobStore): Promise<void> {
  const present = new Set<string>()
  for await (const key of to.keys()) present.add(key)
  let copied = 0
  let removed = 0
  for await (const key of from.keys()) {
    if (present.has(key)) continue
    const bytes = await from.get(key)
    if (!bytes) {
      removed++
      continue
    }
    await to.put(key, bytes)
    copied++
    if (copied % 1_000 === 0) notice(`${copied} images copied`)
  }
  notice(
    `${copied} images copied, ${present.size} were there${removed > 0 ? `, ${removed} were removed meanwhile` : ''}`,
  )
}
