import { existsSync } from 'node:fs'
import { rename, rm, rmdir, stat } from 'node:fs/promises'
import { basename, join, resolve } from 'node:path'
import {
  DataFolderRefused,
  lockFile,
  makeFolder,
  sqliteEventStore,
  sqliteUserKeys,
  verifyCopy,
} from '@gantry/embedded'
import { renewLogIdentity } from '@gantry/event-sourcing'
import { userKeySealer } from '@gantry/identity'
import {
  EncryptionKeyMissing,
  type EncryptionKeys,
  readSettings,
  requireEncryptionKeys,
} from '@gantry/service-runtime'
import {
  type DataFolder,
  ENTRIES,
  openDataFolder,
  RESTORING,
  type Settings,
  settingsSchema,
} from '@gantry/standalone'
import { CommandFailed, fileOf, notice, parsed, print, WrongUsage } from '../command.ts'
import { progressBar } from '../progress.ts'
import { contentOfLog } from './backup.ts'
import { copyFile, entriesOf, failureOf, requireDataFolder, syncFolder } from './files.ts'
import { type BackupFile, type Manifest, readManifest } from './manifest.ts'

export const USAGE = `usage: npm run restore -- FOLDER [--without-user-keys | --user-keys FILE]
  FOLDER              a backup; it is restored into DATA_DIR, which must be empty
  --user-keys FILE    the keys of users, if they are not in FOLDER, or if those of a later backup are to be used
  --without-user-keys restore without the keys of users, to put back their file user-keys.db afterwards`

const { events: LOG, userKeys: USER_KEYS, key: KEY, images: IMAGES } = ENTRIES
const LOCK = 'lock'
/** Keys of users that are read together. */
const PAGE = 1_000
/** A data folder with this entry is complete, also if the folder of the restore is still there. */
const COMPLETE = ENTRIES.manifest
/** What is moved into the data folder, in this order. The service does not start before the end. */
const MOVED: readonly string[] = [IMAGES, USER_KEYS, KEY, LOG, COMPLETE]

interface Order {
  folder: string
  manifest: Manifest
  /** The file with the keys of users; undefined if they are not restored. */
  userKeys: string | undefined
  dataDir: string
  settings: Settings
}

/** Restores a backup into an empty data folder. What is refused changes nothing. */
export async function run(args: string[], environment: NodeJS.ProcessEnv): Promise<number> {
  requireDataFolder(environment, 'Restoring the log')
  const order = await orderIn(args, environment)
  await requireFiles(order)
  await restore(order).catch(error => {
    throw failureOf(error)
  })
  await report(order)
  return 0
}

async function orderIn(args: string[], environment: NodeJS.ProcessEnv): Promise<Order> {
  const { values, positionals } = argumentsIn(args)
  const [given] = positionals
  const without = values['without-user-keys']
  const file = values['user-keys']
  if (!given || positionals.length > 1 || (without && file)) throw new WrongUsage(USAGE)
  const settings = readSettings(settingsSchema, environment)
  for (const setting of ['EVENT_STORE_URL', 'READ_MODEL_URL', 'USER_KEY_URL'] as const)
    if (settings[setting])
      throw new CommandFailed(
        `${setting}: must not be set: all files are restored into DATA_DIR, and can be moved from there`,
      )
  const folder = fileOf(given, environment)
  const manifest = await readManifest(folder)
  if (!manifest.files.some(({ path }) => path === KEY) && !settings.ENCRYPTION_KEY)
    throw new CommandFailed('ENCRYPTION_KEY: must be set, because the backup does not contain the key')
  const inBackup = manifest.userKeys ? join(folder, manifest.userKeys.path) : undefined
  const userKeys = file ? fileOf(file, environment) : inBackup
  if (!without && !(userKeys && existsSync(userKeys)))
    throw new CommandFailed(
      `${userKeys ? `${userKeys} is missing` : 'the backup was taken without the keys of users'}: name a file with ` +
        'them by --user-keys, or restore --without-user-keys, after which users with encrypted names cannot log in',
    )
  const dataDir = resolve(settings.DATA_DIR)
  return { folder, manifest, userKeys: without ? undefined : userKeys, dataDir, settings }
}

function argumentsIn(args: string[]) {
  const options = {
    'without-user-keys': { type: 'boolean', default: false },
    'user-keys': { type: 'string' },
  } as const
  return parsed(USAGE, { args, allowPositionals: true, options })
}

/** Checks the sizes of all files before any is copied. */
async function requireFiles({ folder, manifest: { files } }: Order): Promise<void> {
  for (const { path, bytes } of files) {
    const found = await stat(join(folder, path)).catch(() => undefined)
    if (!found) throw new CommandFailed(`${join(folder, path)} is missing`)
    if (found.size !== bytes)
      throw new CommandFailed(`${join(folder, path)} is damaged: it has ${found.size} of ${bytes} bytes`)
  }
}

async function restore(order: Order): Promise<void> {
  const { dataDir } = order
  const existed = existsSync(dataDir)
  const unlock = await begin(dataDir)
  try {
    await stage(order)
    await commit(order)
  } catch (error) {
    for (const name of MOVED.toReversed()) await remove(join(dataDir, name))
    unlock()
    await remove(join(dataDir, RESTORING))
    if (!existed) await rmdir(dataDir)
    throw error
  }
  // Before the removal, because Windows removes no open file.
  unlock()
  await remove(join(dataDir, RESTORING))
  await syncFolder(dataDir)
}

/** Begins in an empty data folder, or in one in which a restore was interrupted. @returns function that unlocks it */
async function begin(dataDir: string): Promise<() => void> {
  const staging = join(dataDir, RESTORING)
  requireEmpty(dataDir, await entriesOf(dataDir))
  makeFolder(staging, 0o700)
  const unlock = lockFile(join(staging, LOCK))
  try {
    // Read again: until the lock was acquired, another restore may have ended.
    const entries = await entriesOf(dataDir)
    requireEmpty(dataDir, entries)
    if (entries.includes(COMPLETE)) {
      unlock()
      await remove(staging)
      throw new CommandFailed(
        `DATA_DIR: ${dataDir} contains a complete restore: start the service on it, or name a new or empty folder`,
      )
    }
    // What an interrupted restore has left.
    for (const name of entries.filter(name => name !== RESTORING)) await remove(join(dataDir, name))
    for (const name of await entriesOf(staging)) if (!name.startsWith(LOCK)) await remove(join(staging, name))
  } catch (error) {
    unlock()
    throw error
  }
  return unlock
}

/** Refuses entries that are not those of a restore. */
function requireEmpty(dataDir: string, entries: readonly string[]): void {
  const isRestoring = entries.includes(RESTORING)
  const other = entries.find(name => name !== RESTORING && !(isRestoring && MOVED.includes(name)))
  if (other)
    throw new CommandFailed(
      `DATA_DIR: ${dataDir} is not empty (${other}): name a new or empty folder, or move it away`,
    )
}

/** Another restore that tries to begin can have the lock open for a moment. */
const remove = (path: string) => rm(path, { recursive: true, force: true, maxRetries: 5 })

/** Copies the backup beside its place, and verifies the copy. Its log gets an identity of its own. */
async function stage(order: Order): Promise<void> {
  const { folder, manifest, userKeys, dataDir } = order
  const staging = join(dataDir, RESTORING)
  const bar = progressBar('files')
  const total = manifest.files.reduce((sum, { bytes }) => sum + bytes, 0)
  let bytes = 0
  for (const [index, file] of manifest.files.entries()) {
    const from = join(folder, file.path)
    requireSame(file, await copyFile(from, join(staging, file.path)), from)
    bytes += file.bytes
    bar.show(bytes / total, index + 1)
  }
  bar.end()
  if (userKeys) {
    const copied = await copyFile(userKeys, join(staging, USER_KEYS))
    // A later backup of the keys replaces that of this backup.
    if (manifest.userKeys?.path === basename(userKeys)) requireSame(manifest.userKeys, copied, userKeys)
  }
  const { encryptionKeys } = staged(order, staging)
  if (userKeys) await requireOpenable(join(staging, USER_KEYS), encryptionKeys, userKeys)
  await requireContent(order, join(staging, LOG))
  const log = sqliteEventStore({ path: join(staging, LOG) })
  try {
    await requireEncryptionKeys(log, encryptionKeys)
    await renewLogIdentity(log)
  } finally {
    await log.close()
  }
}

/** The copy as a data folder. @throws CommandFailed */
function staged({ folder, userKeys, settings: { ENCRYPTION_KEY } }: Order, staging: string): DataFolder {
  try {
    verifyCopy('events', join(staging, LOG))
    if (userKeys) verifyCopy('user-keys', join(staging, USER_KEYS))
    return openDataFolder({ DATA_DIR: staging, ENCRYPTION_KEY })
  } catch (error) {
    if (!(error instanceof DataFolderRefused)) throw error
    throw new CommandFailed(error.message.replace(staging, folder))
  }
}

/** @param from the path of the file that was copied */
function requireSame(file: BackupFile, copied: Omit<BackupFile, 'path'>, from: string): void {
  if (copied.sha256 !== file.sha256) throw new CommandFailed(`${from} is damaged: its SHA-256 is another one`)
}

/** Checks that the encryption keys open the keys of users, which may be from a later backup. @param from what was copied */
async function requireOpenable(path: string, encryptionKeys: EncryptionKeys, from: string): Promise<void> {
  const stored = sqliteUserKeys({ path })
  const { open } = userKeySealer(encryptionKeys)
  try {
    for (let after: string | undefined = ''; after !== undefined; ) {
      const page: { user: string; key: string }[] = await stored.list(after, PAGE)
      for (const { key } of page) open(key)
      after = page.at(-1)?.user
    }
  } catch (error) {
    if (!(error instanceof EncryptionKeyMissing)) throw error
    throw new CommandFailed(
      `${from} needs another key than the backup: ${error.message}. Set ENCRYPTION_KEY to a list (ID:KEY,ID:KEY) with ` +
        'this key and those of the backup',
    )
  } finally {
    await stored.close()
  }
}

/** Checks that the log agrees with the manifest, and that the backup has the bytes of all images and documents of the log. */
async function requireContent({ folder, manifest }: Order, path: string): Promise<void> {
  const { position, events, live } = await contentOfLog(path)
  const { log, files, lostImages } = manifest
  if (position !== log.position || events !== log.events)
    throw new CommandFailed(
      `${join(folder, LOG)} has ${events} events up to position ${position}, not ${log.events} up to ${log.position}`,
    )
  const present = new Set([...lostImages, ...files.map(({ path }) => basename(path))])
  const missing = [...live].find(sha256 => !present.has(sha256))
  if (missing)
    throw new CommandFailed(`${folder} lacks bytes of an image or document that its log names: ${missing}`)
}

/** Moves the verified files to their places. An interruption leaves the folder of the restore, so that it is repeated. */
async function commit({ manifest, userKeys, dataDir }: Order): Promise<void> {
  const staged = new Set(manifest.files.map(({ path }) => path.split('/')[0]))
  if (userKeys) staged.add(USER_KEYS)
  for (const name of MOVED.filter(name => staged.has(name))) {
    if (name === COMPLETE) await syncFolder(dataDir)
    await rename(join(dataDir, RESTORING, name), join(dataDir, name))
  }
  await syncFolder(dataDir)
}

/** The time in the name of a file `user-keys-TIME.db`, e.g. 20261123T030405Z, in milliseconds; NaN for other names. */
function timeIn(name: string): number {
  const [, ...parts] = /^user-keys-(\d{4})(\d\d)(\d\dT\d\d)(\d\d)(\d\dZ)\.db$/.exec(name) ?? []
  const [year, month, hour, minute, second] = parts
  return Date.parse(`${year}-${month}-${hour}:${minute}:${second}`)
}

async function report({ manifest, userKeys, dataDir, settings }: Order): Promise<void> {
  const { log, startedAt, lostImages } = manifest
  await print(
    `Restored ${log.events.toLocaleString('en')} events up to position ${Number(log.position)} into ${dataDir}, ` +
      `as of ${startedAt}. The service builds its lists from them when it starts.`,
  )
  if (settings.ENCRYPTION_KEY) notice('Start the service with the same ENCRYPTION_KEY')
  for (const sha256 of lostImages) notice(`The backup lacks the bytes ${sha256} of an image or document`)
  const { USER_KEY_BACKUP_RETENTION } = settings
  const takenAt = userKeys ? timeIn(basename(userKeys)) : Number.NaN
  if (Date.now() - takenAt > USER_KEY_BACKUP_RETENTION)
    notice(
      `WARNING: ${userKeys} is older than USER_KEY_BACKUP_RETENTION, so it should have been deleted. ` +
        'It has brought back the names of users that were erased since: repeat these erasures',
    )
  else if (userKeys) notice(`Repeat the erasures of users after ${startedAt}: their keys are restored`)
  else notice(`Put ${USER_KEYS} into ${dataDir} before the start, otherwise the names of users are lost`)
}
