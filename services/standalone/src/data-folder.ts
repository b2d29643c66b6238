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
import { parsedText } from '@gantry/event-sourcing'
import { type EncryptionKeys, parseEncryptionKeys, plainKey } from '@gantry/service-runtime'
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
const Manifest = z.object({ format: z.number() })

/**
 * Creates the data folder, or checks an existing one: its format, and that neither its log nor its key is missing.
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
  const isComplete = existsSync(manifestFile)
  if (isComplete) requireFormat(manifestFile)
  if (isComplete && !existsSync(files.events)) {
    throw new DataFolderRefused(
      files.events,
      'is missing: it contains all data; restore it or start with an empty folder',
    )
  }
  const encryptionKeys = settings.ENCRYPTION_KEY ?? keysOf(join(path, ENTRIES.key), isComplete)
  return { ...files, encryptionKeys }
}

/** Writes the manifest of a complete folder. From then on a missing log, and a missing key, are refused. */
export function sealDataFolder({ path }: DataFolder): void {
  const file = join(path, ENTRIES.manifest)
  if (existsSync(file)) return
  writeFileSync(`${file}.new`, `${JSON.stringify({ format: FORMAT })}\n`, { flush: true })
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

function requireFormat(file: string): void {
  const content = parsedText(readFileSync(file, 'utf8'))
  if (content === undefined) throw new DataFolderRefused(file, 'is damaged: it is not JSON')
  const { data } = Manifest.safeParse(content)
  if (!data) throw new DataFolderRefused(file, 'is damaged: it lacks its format')
  if (data.format > FORMAT) {
    throw new DataFolderRefused(
      file,
      `was made by a newer Gantry (format ${data.format}, this one knows ${FORMAT})`,
    )
  }
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
