import { randomBytes } from 'node:crypto'
import {
  accessSync,
  chmodSync,
  constants,
  existsSync,
  linkSync,
  lstatSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join, resolve } from 'node:path'
import { DataFolderRefused, isFull, makeFolder } from '@gantry/embedded'
import {
  type EncryptionKeys,
  firstInUse,
  missingKeys,
  parseEncryptionKeys,
  plainKey,
} from '@gantry/service-runtime'
import { z } from 'zod'

/** The settings that say where the data of the standalone process are, and their keys. */
export interface DataSettings {
  DATA_DIR: string
  ENCRYPTION_KEY?: EncryptionKeys | undefined
  /** Paths of files elsewhere than in DATA_DIR. */
  EVENT_STORE_URL?: string | undefined
  READ_MODEL_URL?: string | undefined
  USER_KEY_URL?: string | undefined
}

/** The paths and the keys of the data of the standalone process. */
export interface DataFolder {
  path: string
  events: string
  readModels: string
  messages: string
  userKeys: string
  images: string
  encryptionKeys: EncryptionKeys
}

/** Names of the entries of a data folder; the stores and this file append suffixes. */
export const ENTRIES = {
  events: 'events.db',
  readModels: 'read-models.db',
  messages: 'messages.db',
  userKeys: 'user-keys.db',
  images: 'images',
  manifest: 'gantry.json',
  key: 'encryption.key',
} as const

const FORMAT = 1
/** Folder of a restore that is not complete, in the data folder. */
export const RESTORING = '.restoring'
const OWNER_FOLDER = 0o700
const OWNER_FILE = 0o600
const OTHERS = 0o077
const Format = z.object({ format: z.number() })
const Manifest = Format.extend({
  /** The keys that secrets of the folder are sealed with. */
  keysInUse: z.array(z.object({ id: z.string(), fingerprint: z.string() })),
})
type Manifest = z.infer<typeof Manifest>

/**
 * Creates the data folder, or checks an existing one: its format, its keys, and that its log is not missing.
 * A folder that is refused is not changed, except for its permissions.
 * @throws DataFolderRefused with a message for the operator
 */
export function openDataFolder(settings: DataSettings): DataFolder {
  const path = resolve(settings.DATA_DIR)
  makeWritable(path)
  makePrivate(path)
  if (existsSync(join(path, RESTORING)))
    throw new DataFolderRefused(path, 'is being restored; if the restore was interrupted, run it again')
  const files = {
    path,
    events: settings.EVENT_STORE_URL ?? join(path, ENTRIES.events),
    readModels: settings.READ_MODEL_URL ?? join(path, ENTRIES.readModels),
    messages: join(path, ENTRIES.messages),
    userKeys: settings.USER_KEY_URL ?? join(path, ENTRIES.userKeys),
    images: join(path, ENTRIES.images),
  }
  const manifestFile = join(path, ENTRIES.manifest)
  const manifest = existsSync(manifestFile) ? readManifest(manifestFile) : undefined
  if (manifest && !existsSync(files.events)) {
    throw new DataFolderRefused(
      files.events,
      'is missing: it contains all data; restore it or start with an empty folder',
    )
  }
  const encryptionKeys = settings.ENCRYPTION_KEY ?? keysOf(join(path, ENTRIES.key), manifest !== undefined)
  const [missing] = manifest ? missingKeys(encryptionKeys, manifest.keysInUse) : []
  if (missing)
    throw new DataFolderRefused(
      path,
      `ENCRYPTION_KEY lacks key ${missing.id}, which secrets of this folder are encrypted with`,
    )
  return { ...files, encryptionKeys }
}

/**
 * Writes the manifest of a complete folder, with the key that seals from now on. From then on a missing log, and a start
 * without this key, are refused.
 */
export function sealDataFolder({ path, encryptionKeys }: DataFolder): void {
  const file = join(path, ENTRIES.manifest)
  const first = firstInUse(encryptionKeys)
  const { format, keysInUse } = existsSync(file) ? readManifest(file) : { format: FORMAT, keysInUse: [] }
  if (keysInUse.some(({ fingerprint }) => fingerprint === first.fingerprint)) return
  writeManifest(file, { format, keysInUse: [...keysInUse, first] })
}

/**
 * Records that no secret of the folder is sealed with any key but the first one, which must be true.
 * @returns ids of the keys that are no longer in use
 */
export function retireKeys({ path, encryptionKeys }: DataFolder): string[] {
  const file = join(path, ENTRIES.manifest)
  const manifest = readManifest(file)
  const first = firstInUse(encryptionKeys)
  const retired = manifest.keysInUse.filter(({ fingerprint }) => fingerprint !== first.fingerprint)
  if (retired.length > 0) writeManifest(file, { ...manifest, keysInUse: [first] })
  return retired.map(({ id }) => id)
}

function writeManifest(file: string, manifest: Manifest): void {
  writeFileSync(`${file}.new`, `${JSON.stringify(manifest, null, 2)}\n`, { flush: true })
  renameSync(`${file}.new`, file)
}

function makeWritable(path: string): void {
  try {
    makeFolder(path, OWNER_FOLDER)
    accessSync(path, constants.W_OK | constants.X_OK)
  } catch (error) {
    if (isFull(error)) throw error
    const { code } = error as NodeJS.ErrnoException
    const reason = code === 'EEXIST' || code === 'ENOTDIR' ? 'is not a folder' : 'is not writable'
    throw new DataFolderRefused(path, `${reason}: set DATA_DIR to a folder that this user may write to`)
  }
}

/**
 * Restricts the data to its owner, also in a folder that another program has made or copied. The permissions of a
 * folder that also has other entries do not change. The folder comes last, so that the next start repeats an interrupted
 * run. Entries of other users are left unchanged.
 */
function makePrivate(path: string): void {
  if ((statSync(path).mode & OTHERS) === 0) return
  const entries = readdirSync(path)
  const own = entries.filter(entry => Object.values(ENTRIES).some(name => entry.startsWith(name)))
  for (const entry of own) makePrivateWithin(join(path, entry))
  if (own.length === entries.length) chmodIfOwned(path, OWNER_FOLDER)
}

function makePrivateWithin(path: string): void {
  const found = lstatSync(path)
  if (found.isSymbolicLink()) return
  chmodIfOwned(path, found.isDirectory() ? OWNER_FOLDER : OWNER_FILE)
  if (found.isDirectory()) for (const entry of readdirSync(path)) makePrivateWithin(join(path, entry))
}

function chmodIfOwned(path: string, mode: number): void {
  try {
    chmodSync(path, mode)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code !== 'EPERM' && code !== 'ENOENT') throw error
  }
}

function readManifest(file: string): Manifest {
  let content: unknown
  try {
    content = JSON.parse(readFileSync(file, 'utf8'))
  } catch {
    throw new DataFolderRefused(file, 'is damaged: it is not JSON')
  }
  // A newer format may lack all other members.
  const format = Format.safeParse(content).data?.format ?? FORMAT
  if (format > FORMAT) {
    throw new DataFolderRefused(
      file,
      `was made by a newer Gantry (format ${format}, this one knows ${FORMAT})`,
    )
  }
  const parsed = Manifest.safeParse(content)
  if (!parsed.success) throw new DataFolderRefused(file, 'is damaged: it lacks its format or its keys')
  return parsed.data
}

function keysOf(file: string, mustExist: boolean): EncryptionKeys {
  if (existsSync(file)) {
    try {
      return parseEncryptionKeys(readFileSync(file, 'utf8').trim())
    } catch (error) {
      throw new DataFolderRefused(file, `is no valid ENCRYPTION_KEY: ${(error as Error).message}`)
    }
  }
  if (mustExist)
    throw new DataFolderRefused(file, 'is missing: restore it, or set ENCRYPTION_KEY to its content')
  const key = randomBytes(32)
  writeNew(file, `${key.toString('base64')}\n`)
  return plainKey(key)
}

/** Creates a file for its owner alone, atomically. @throws Error when another process has created it */
function writeNew(file: string, text: string): void {
  const draft = `${file}.${process.pid}.new`
  try {
    writeFileSync(draft, text, { mode: 0o600, flush: true })
    giveName(draft, file)
  } finally {
    rmSync(draft, { force: true })
  }
}

function giveName(draft: string, file: string): void {
  try {
    linkSync(draft, file)
  } catch (error) {
    // Some file systems have no hard links.
    if (existsSync(file)) throw error
    renameSync(draft, file)
  }
}
