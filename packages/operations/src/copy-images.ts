import { openBlobs, storeSettings } from '@gantry/hosting'
import { mediaSettings } from '@gantry/media'
import { type BlobStore, ReadModelsUnavailable } from '@gantry/read-models'
import { readSettings } from '@gantry/service-kit'
import { CommandFailed, WrongUsage } from './command.ts'
import { notice } from './output.ts'

export const USAGE = `usage: npm run copy-images -- TO

Copies the bytes of images from the store of BLOB_URL, or else of READ_MODEL_URL, to TO, a URL like BLOB_URL. It copies
those that TO does not have, and deletes nothing. The AWS_... settings apply to both.`

const { BLOB_URL, READ_MODEL_URL } = storeSettings.shape
const settingsSchema = mediaSettings.extend({ BLOB_URL, READ_MODEL_URL })

export async function run(args: string[], environment: NodeJS.ProcessEnv): Promise<number> {
  const [to] = args
  if (args.length !== 1 || !BLOB_URL.safeParse(to).success) throw new WrongUsage(USAGE)
  const settings = readSettings(settingsSchema, environment)
  if (settings.BLOB_URL === to) throw new CommandFailed('TO is the store of BLOB_URL')
  const stores: BlobStore[] = []
  const open = (url: string | undefined) => {
    const { store } = openBlobs({ ...settings, BLOB_URL: url }, settings)
    stores.push(store)
    return store
  }
  try {
    await copyBlobs(open(settings.BLOB_URL), open(to))
    return 0
  } catch (error) {
    throw error instanceof ReadModelsUnavailable ? error : new CommandFailed((error as Error).message)
  } finally {
    await Promise.all(stores.map(store => store.close()))
  }
}

async function copyBlobs(from: BlobStore, to: BlobStore): Promise<void> {
  const present = new Set<string>()
  for await (const key of to.keys()) present.add(key)
  let copied = 0
  for await (const key of from.keys()) {
    const bytes = present.has(key) ? undefined : await from.get(key)
    if (!bytes) continue
    await to.put(key, bytes)
    copied++
    if (copied % 1_000 === 0) notice(`${copied} images copied`)
  }
  notice(`${copied} images copied, ${present.size} were there`)
}
