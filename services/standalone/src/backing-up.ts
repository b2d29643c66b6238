import { join } from 'node:path'
import type { Bus } from '@gantry/messaging'
import { z } from 'zod'

/** Subject of the requests from the command to the running service: start to copy the files, or return the progress. */
const SUBJECT = 'standalone.backup'
const TIMEOUT_MS = 5_000

/** Copies a file of the service while it is used. */
interface Copied {
  copyTo(path: string, progress?: (done: number, bytes: number) => void): Promise<void>
}

/** The files of a service that only its process can copy. */
export interface LiveFiles {
  eventStore: Copied
  userKeys: Copied
}

/** Where the copies go: the names of new files in an existing folder, which is an absolute path. */
const copyRequest = z.object({ folder: z.string(), events: z.string(), userKeys: z.string().optional() })
export type CopyRequest = z.infer<typeof copyRequest>

const progressOfCopies = z.object({
  /** The part of the log that is copied, from 0 to 1, and the size of the log in bytes. */
  done: z.number(),
  bytes: z.number(),
  copied: z.boolean(),
  /** Why the copies ended before they were complete. */
  failure: z.string().optional(),
})
export type ProgressOfCopies = z.infer<typeof progressOfCopies>

/**
 * Copies the log, then the keys of users, so that every key that the copied log needs is copied.
 * @returns function that reads the progress
 */
export function startCopies(
  { eventStore, userKeys }: LiveFiles,
  request: CopyRequest,
): () => ProgressOfCopies {
  const progress: ProgressOfCopies = { done: 0, bytes: 0, copied: false }
  const copyAll = async () => {
    await eventStore.copyTo(join(request.folder, request.events), (done, bytes) =>
      Object.assign(progress, { done, bytes }),
    )
    if (request.userKeys) await userKeys.copyTo(join(request.folder, request.userKeys))
  }
  copyAll().then(
    () => Object.assign(progress, { done: 1, copied: true }),
    error => Object.assign(progress, { failure: error instanceof Error ? error.message : String(error) }),
  )
  return () => ({ ...progress })
}

const backupRequest = z.object({ id: z.string(), copy: copyRequest.optional() })
const backupReply = progressOfCopies.extend({
  /** Whether the key of the service is that of the file encryption.key. */
  usesKeyFile: z.boolean(),
})

/** Answers the command, which runs in another process and cannot read the locked files of this one. */
export function answerBackups(bus: Bus, files: LiveFiles, usesKeyFile: boolean): () => void {
  const reports = new Map<string, () => ProgressOfCopies>()
  return bus.respond(SUBJECT, async body => {
    const { id, copy } = backupRequest.parse(body)
    if (copy) reports.set(id, startCopies(files, copy))
    const report = reports.get(id)
    if (!report) throw new Error('the service was restarted meanwhile')
    return { ...report(), usesKeyFile }
  })
}

/**
 * Asks the running service to copy its files, or for the progress of an earlier request with this id if `copy` is left out.
 * @throws NoResponder, RequestTimeout when none is running; RequestFailed
 */
export const askForCopies = async (bus: Bus, id: string, copy?: CopyRequest) =>
  backupReply.parse(await bus.request(SUBJECT, { id, ...(copy && { copy }) }, { timeoutMs: TIMEOUT_MS }))
