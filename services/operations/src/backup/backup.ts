import { createHash, randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { basename, dirname, isAbsolute, join, relative, resolve } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { folderBlobStore, makeFolder, sqliteEventStore, sqliteUserKeys, verifyCopy } from '@gantry/embedded'
import { processOn } from '@gantry/hosting'
import { BytesLost, referencedBytes, storedBytes } from '@gantry/media'
import { type Peers, readSettings, Unanswered } from '@gantry/service-runtime'
import {
  backingUp,
  type Copies,
  type CopyRequest,
  ENTRIES,
  openDataFolder,
  type ProgressOfCopies,
  type Settings,
  settingsSchema,
  startCopies,
} from '@gantry/standalone'
import { CommandFailed, fileOf, interruption, notice, parsed, print, WrongUsage } from '../command.ts'
import { type Progress, progressBar } from '../progress.ts'
import { copyFile, digestOf, entriesOf, failureOf, requireDataFolder, syncFolder } from './files.ts'
import { type BackupFile, MANIFEST, type Manifest, writeManifest } from './manifest.ts'

export const USAGE = `usage: npm run backup -- FOLDER [--without-key] [--without-user-keys | --user-keys FOLDER]
  FOLDER              new or empty folder, which becomes the backup
  --without-key       leave out the file encryption.key; without its key a backup cannot be restored
  --without-user-keys leave out the keys of users
  --user-keys FOLDER  put the keys of users into this folder, which may contain those of other backups`

const POLL_MS = 100
const { events: LOG, manifest: DATA_MANIFEST, key: KEY, images: IMAGES } = ENTRIES
/** Exit code of a backup that lacks bytes of images or documents. */
const INCOMPLETE = 3
const ENDED = 'the service does not answer any more'

interface Order {
  folder: string
  /** The file for the keys of users, in the same folder or another one; undefined if they are left out. */
  userKeys: string | undefined
  /** ISO 8601 UTC. */
  startedAt: string
  withKey: boolean
  dataDir: string
  settings: Settings
}

/** Backs up the data folder of a standalone service, which may be running. */
export async function run(args: string[], environment: NodeJS.ProcessEnv): Promise<number> {
  requireDataFolder(environment, 'Backing up')
  const order = orderIn(args, environment)
  await requireEmpty(order)
  makeFolders(order)
  const { signal, code } = interruption()
  let manifest: Manifest
  try {
    manifest = await backUp(order, signal)
  } catch (error) {
    for (const entry of await entriesOf(order.folder))
      await rm(join(order.folder, entry), { recursive: true, force: true })
    if (!signal.aborted) throw failureOf(error)
    notice('interrupted: there is no backup')
    return code(1)
  }
  await report(order, manifest)
  return manifest.lostImages.length === 0 ? 0 : INCOMPLETE
}

function orderIn(args: string[], environment: NodeJS.ProcessEnv): Order {
  const { values, positionals } = argumentsIn(args)
  const [folder] = positionals
  if (!folder || positionals.length > 1 || (values['without-user-keys'] && values['user-keys']))
    throw new WrongUsage(USAGE)
  const settings = readSettings(settingsSchema, environment)
  const path = fileOf(folder, environment)
  const startedAt = new Date().toISOString()
  const apart = values['user-keys']
  const userKeys = join(
    apart ? fileOf(apart, environment) : path,
    `user-keys-${startedAt.replace(/[-:]|\.\d+/g, '')}.db`,
  )
  return {
    folder: path,
    userKeys: values['without-user-keys'] ? undefined : userKeys,
    startedAt,
    withKey: !values['without-key'],
    dataDir: resolve(settings.DATA_DIR),
    settings,
  }
}

function argumentsIn(args: string[]) {
  const flag = { type: 'boolean', default: false } as const
  const options = {
    'without-key': flag,
    'without-user-keys': flag,
    'user-keys': { type: 'string' },
  } as const
  return parsed(USAGE, { args, allowPositionals: true, options })
}

async function requireEmpty({ folder, dataDir }: Order): Promise<void> {
  if (!existsSync(join(dataDir, DATA_MANIFEST)))
    throw new CommandFailed(`DATA_DIR: ${dataDir} contains no data of Gantry: ${DATA_MANIFEST} is missing`)
  const inside = relative(dataDir, folder)
  if (!inside.startsWith('..') && !isAbsolute(inside))
    throw new CommandFailed(`${folder} is inside DATA_DIR: name a folder elsewhere, best on another disk`)
  const entries = await entriesOf(folder)
  if (entries.includes(LOG) && !entries.includes(MANIFEST))
    throw new CommandFailed(
      `${folder} contains a backup that was interrupted, or is still being written: delete it, or name a new folder`,
    )
  if (entries[0])
    throw new CommandFailed(`${folder} is not empty (${entries[0]}): name a new or empty folder`)
}

/** @throws CommandFailed before anything is copied */
function makeFolders({ folder, userKeys }: Order): void {
  for (const path of [...(userKeys ? [dirname(userKeys)] : []), folder])
    try {
      makeFolder(path, 0o700)
    } catch (error) {
      throw new CommandFailed(`${path} cannot be created: ${(error as NodeJS.ErrnoException).code}`)
    }
}

/** A failure leaves no keys of users. @param signal ends the work with an error */
async function backUp(order: Order, signal: AbortSignal): Promise<Manifest> {
  const { folder, userKeys, dataDir } = order
  const keyBefore = await keyFilesOf(dataDir)
  const copy = { folder, events: LOG, ...(userKeys && { userKeys: relative(folder, userKeys) }) }
  const usesKeyFile = await copyStores(copy, order, signal)
  try {
    const copied = await copyImages(order, signal)
    if ((await keyFilesOf(dataDir)) !== keyBefore)
      throw new CommandFailed('the encryption key was changed during the backup: repeat it')
    return await complete(order, { ...copied, usesKeyFile }, signal)
  } catch (error) {
    if (userKeys) await rm(userKeys, { force: true })
    throw error
  }
}

interface Copied {
  log: Manifest['log']
  images: BackupFile[]
  lost: string[]
  usesKeyFile: boolean
}

/** Adds what the copies of stores and images lack, and the manifest. */
async function complete(
  { folder, userKeys, startedAt, withKey, dataDir }: Order,
  { log, images, lost, usesKeyFile }: Copied,
  signal: AbortSignal,
): Promise<Manifest> {
  const files = [...images]
  for (const name of [DATA_MANIFEST, ...(usesKeyFile && withKey ? [KEY] : [])])
    files.push({ path: name, ...(await copyFile(join(dataDir, name), join(folder, name))) })
  files.push({ path: LOG, ...(await digestOf(join(folder, LOG), signal)) })
  if (userKeys) {
    verifyCopy('user-keys', userKeys)
    await syncFolder(dirname(userKeys))
  }
  const manifest = {
    startedAt,
    completedAt: new Date().toISOString(),
    log,
    lostImages: lost,
    userKeys: userKeys
      ? { path: basename(userKeys), ...(await digestOf(userKeys, signal)), takenAt: startedAt }
      : null,
    files,
  }
  await syncFolder(folder)
  signal.throwIfAborted()
  await writeManifest(folder, manifest)
  await syncFolder(folder)
  return { format: 1, ...manifest }
}

/** The content of the files that determine the key, to find out whether they change. */
const keyFilesOf = async (dataDir: string): Promise<string> => {
  const contents = [DATA_MANIFEST, KEY].map(name => readFile(join(dataDir, name), 'utf8').catch(() => ''))
  return (await Promise.all(contents)).join('\n')
}

/**
 * Copies the log and the keys of users, by the running service if one runs. A failure leaves no file.
 * @returns whether the key of the service is that of encryption.key
 */
async function copyStores(
  copy: CopyRequest,
  { dataDir, settings }: Order,
  signal: AbortSignal,
): Promise<boolean> {
  return (await copyRunning(copy, processOn(dataDir), signal)) ?? (await copyStopped(copy, settings, signal))
}

/** @returns undefined if no service runs */
async function copyRunning(
  copy: CopyRequest,
  service: Pick<Peers, 'ask'>,
  signal: AbortSignal,
): Promise<boolean | undefined> {
  const id = randomUUID()
  const started = await unlessStopped(service.ask(backingUp, { id, copy }))
  if (!started) return undefined
  const copies = {
    progress: async () =>
      (await unlessStopped(service.ask(backingUp, { id }))) ?? { ...started, failure: ENDED },
    // A service that does not answer ends the copies itself.
    end: async () => void (await unlessStopped(service.ask(backingUp, { id, end: true }))),
  }
  await finished(copies, signal)
  return started.usesKeyFile
}

/** The answer of the running service; undefined if none runs. */
async function unlessStopped<Answer>(request: Promise<Answer>): Promise<Answer | undefined> {
  try {
    return await request
  } catch (error) {
    if (error instanceof Unanswered) return undefined
    throw error
  }
}

/** Copies the stores of a data folder that no process uses, and keeps processes from using it meanwhile. */
async function copyStopped(copy: CopyRequest, settings: Settings, signal: AbortSignal): Promise<boolean> {
  const data = openDataFolder(settings)
  const eventStore = sqliteEventStore({ path: data.events, exclusive: true })
  const userKeys = sqliteUserKeys({ path: data.userKeys })
  try {
    const { progress, end } = startCopies({ eventStore, userKeys }, copy)
    await finished({ progress: async () => progress(), end }, signal)
  } finally {
    await Promise.all([eventStore.close(), userKeys.close()])
  }
  return settings.ENCRYPTION_KEY === undefined
}

interface RunningCopies extends Pick<Copies, 'end'> {
  progress(): Promise<ProgressOfCopies>
}

/** Shows the progress until the copies are complete. Otherwise it ends them. */
async function finished({ progress, end }: RunningCopies, signal: AbortSignal): Promise<void> {
  const bar = progressBar('MB of the log')
  try {
    for (;;) {
      const { done, bytes, copied, failure } = await progress()
      if (failure) throw new CommandFailed(`the log was not copied: ${failure}`)
      if (copied) return
      if (bytes > 0) bar.show(done, Math.round((done * bytes) / 1e6))
      await setTimeout(POLL_MS, undefined, { signal })
    }
  } catch (error) {
    await end().catch(() => {})
    throw error
  } finally {
    bar.end()
  }
}

/** Copies the bytes of images and documents that the copied log names. Lost ones are reported and left out. */
async function copyImages(
  { dataDir, folder }: Order,
  signal: AbortSignal,
): Promise<Omit<Copied, 'usesKeyFile'>> {
  verifyCopy('events', join(folder, LOG))
  const { position, events, live, replaced } = await contentOfLog(join(folder, LOG))
  const named = new Set([...live, ...replaced])
  const bytesOf = storedBytes(folderBlobStore({ path: join(dataDir, IMAGES) }))
  const images: BackupFile[] = []
  const lost: string[] = []
  const bar: Progress = progressBar('images')
  if (named.size > 0) await mkdir(join(folder, IMAGES), { mode: 0o700 })
  for (const sha256 of named) {
    signal.throwIfAborted()
    const bytes = await bytesOf.get(sha256).catch(error => {
      if (error instanceof BytesLost) return undefined
      throw error
    })
    if (!bytes || createHash('sha256').update(bytes).digest('hex') !== sha256) {
      // The bytes of documents that were replaced long ago are removed.
      if (live.has(sha256)) lost.push(sha256)
      continue
    }
    const path = `${IMAGES}/${sha256}`
    await writeFile(join(folder, path), bytes, { flag: 'wx', mode: 0o600, flush: true })
    images.push({ path, bytes: bytes.length, sha256 })
    bar.show(images.length / named.size, images.length)
  }
  bar.end()
  if (named.size > 0) await syncFolder(join(folder, IMAGES))
  return { log: { position, events }, images, lost }
}

const days = (ms: number) => `${Math.round(ms / 86_400_000)} days`

async function report(order: Order, { log, files, lostImages, userKeys }: Manifest): Promise<void> {
  const bytes = files.reduce((sum, file) => sum + file.bytes, 0)
  const images = files.filter(({ path }) => path.startsWith('images/')).length
  await print(
    `Backed up ${log.events.toLocaleString('en')} events up to position ${Number(log.position)} and the bytes of ${images} images and documents, ` +
      `${(bytes / 1e6).toFixed(1)} MB, in ${order.folder}`,
  )
  if (files.some(({ path }) => path === KEY))
    notice(
      `It contains ${KEY}, which decrypts its secrets: protect it like a password (--without-key leaves it out)`,
    )
  else notice('It does not contain the encryption key: keep a copy of ENCRYPTION_KEY elsewhere')
  if (order.userKeys)
    notice(
      `Delete ${order.userKeys} after ${days(order.settings.USER_KEY_BACKUP_RETENTION)} (USER_KEY_BACKUP_RETENTION), ` +
        'so that erasures of users reach this backup; the rest may be kept',
    )
  if (!userKeys) notice('It does not contain the keys of users, without which their names are lost')
  for (const sha256 of lostImages)
    notice(
      `WARNING: left out the bytes ${sha256} of an image or document: they are lost or damaged, or were deleted during the backup`,
    )
}

export interface LogContent {
  /** Position of the last event. */
  position: string
  events: number
  /** SHA-256 of every existing image and document. */
  live: Set<string>
  /** SHA-256 of replaced documents. */
  replaced: Set<string>
}

/** Reads a copy of a log that no other process uses. */
export async function contentOfLog(path: string): Promise<LogContent> {
  const log = sqliteEventStore({ path })
  try {
    return { position: await log.head(), events: await log.count(), ...(await referencedBytes(log)) }
  } finally {
    await log.close()
  }
}
