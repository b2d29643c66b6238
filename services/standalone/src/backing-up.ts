import { rm } from 'node:fs/promises'
import { resolve } from 'node:path'
import { Refusal, type ServiceRequest } from '@gantry/contracts'
import type { Peers } from '@gantry/service-runtime'
import { z } from 'zod'

/** Longer than a few requests of the command that are not answered in time. */
const SILENCE_MS = 20_000

/** Copies a file of the service while it is used. */
interface Copied {
  copyTo(path: string, progress?: (done: number, bytes: number) => void): Promise<void>
}

/** The files of a service that only its process can copy. */
export interface LiveFiles {
  eventStore: Copied
  userKeys: Copied
}

/** Where the copies go: an existing folder, which is an absolute path, and the paths of new files relative to it. */
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

/** Copies that are being made. */
export interface Copies {
  progress(): ProgressOfCopies
  /** Ends the copies, and removes the files that they have made. Resolves when both are done. */
  end(): Promise<void>
}

/**
 * Copies the log, then the keys of users, so that every key that the copied log needs is copied. A failure leaves no file.
 */
export function startCopies({ eventStore, userKeys }: LiveFiles, request: CopyRequest): Copies {
  const progress: ProgressOfCopies = { done: 0, bytes: 0, copied: false }
  const made: string[] = []
  let isEnded = false
  const unlessEnded = () => {
    if (isEnded) throw new Error('the backup was ended')
  }
  const copy = async (file: Copied, name: string, shown: (done: number, bytes: number) => void) => {
    unlessEnded()
    const path = resolve(request.folder, name)
    await file.copyTo(path, (done, bytes) => {
      unlessEnded()
      shown(done, bytes)
    })
    made.push(path)
  }
  const copyAll = async () => {
    await copy(eventStore, request.events, (done, bytes) => Object.assign(progress, { done, bytes }))
    if (request.userKeys) await copy(userKeys, request.userKeys, () => {})
  }
  const remove = () => Promise.all(made.map(path => rm(path, { force: true })))
  const over = copyAll().then(
    () => Object.assign(progress, { done: 1, copied: true }),
    async error => {
      await remove()
      Object.assign(progress, { failure: error instanceof Error ? error.message : String(error) })
    },
  )
  return {
    progress: () => ({ ...progress }),
    async end() {
      isEnded = true
      await over
      await remove()
    },
  }
}

/** Request of the command to the running service: starts to copy the files, ends the copies, or returns their progress. */
export const backingUp = {
  service: 'standalone',
  id: 'standalone.backup',
  asked: z.object({
    id: z.string(),
    copy: copyRequest.optional(),
    /** Whether to end the copies and remove their files. */
    end: z.boolean().default(false),
  }),
  answer: progressOfCopies.extend({
    /** Whether the key of the service is that of the file encryption.key. */
    usesKeyFile: z.boolean(),
  }),
  timeoutMs: 5_000,
} satisfies ServiceRequest

interface AnswerOptions {
  /** Whether the key of the service is that of the file encryption.key. */
  usesKeyFile: boolean
  /** Time without a request after which the copies are ended, because the command was killed. In milliseconds. */
  silenceMs?: number
}

/**
 * Answers the command, which runs in another process and cannot read the locked files of this one. One backup is taken at a
 * time. Its files belong to this process, which removes them if the copies end early, until the command knows that they are
 * complete.
 * @returns function that ends the copies and answers no more
 */
export function answerBackups(
  peers: Peers,
  files: LiveFiles,
  { usesKeyFile, silenceMs = SILENCE_MS }: AnswerOptions,
): () => Promise<void> {
  let last: { id: string; copies: Copies } | undefined
  /** Runs while the files belong to this process. */
  let silence: NodeJS.Timeout | undefined
  const stopAnswering = peers.answer(backingUp, async ({ id, copy, end }) => {
    if (copy) {
      if (silence) throw new Refusal('write-conflict', { detail: 'another backup is being taken' })
      last = { id, copies: startCopies(files, copy) }
    }
    if (last?.id !== id)
      throw new Refusal('write-conflict', { detail: 'the service was restarted meanwhile' })
    const { copies } = last
    clearTimeout(silence)
    silence = setTimeout(() => {
      silence = undefined
      void copies.end()
    }, silenceMs).unref()
    if (end) await copies.end()
    const progress = copies.progress()
    if (progress.copied || progress.failure !== undefined) {
      clearTimeout(silence)
      silence = undefined
    }
    return { ...progress, usesKeyFile }
  })
  return async () => {
    stopAnswering()
    if (!silence) return
    clearTimeout(silence)
    await last?.copies.end()
  }
}
