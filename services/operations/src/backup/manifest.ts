import { readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parsedText } from '@gantry/event-sourcing'
import { z } from 'zod'
import { CommandFailed } from '../command.ts'

/** The file that makes a folder a backup. It is written last. */
export const MANIFEST = 'backup.json'
const FORMAT = 1

/** Path in the backup with `/`, size in bytes, and SHA-256 in hexadecimal. */
const file = z.object({
  path: z.string().regex(/^(?:[\w-][\w.-]*\/)?[\w-][\w.-]*$/),
  bytes: z.number(),
  sha256: z.string(),
})
export type BackupFile = z.infer<typeof file>

const schema = z.object({
  format: z.number(),
  /** Times in ISO 8601 UTC. The log contains everything that was acknowledged before `startedAt`. */
  startedAt: z.string(),
  completedAt: z.string(),
  /** Position of the last event, and the number of events. */
  log: z.object({ position: z.string(), events: z.number() }),
  /** SHA-256 of images whose bytes the service had lost before the backup. */
  lostImages: z.array(z.string()),
  /** The keys of users, a file of the backup or of another folder; null if they were left out. */
  userKeys: file.extend({ takenAt: z.string() }).nullable(),
  files: z.array(file),
})
export type Manifest = z.infer<typeof schema>

/** Writes the manifest of a backup whose files are complete and durable. */
export async function writeManifest(folder: string, manifest: Omit<Manifest, 'format'>): Promise<void> {
  const path = join(folder, MANIFEST)
  const text = `${JSON.stringify({ format: FORMAT, ...manifest }, null, 1)}\n`
  await writeFile(`${path}.new`, text, { mode: 0o600, flush: true })
  await rename(`${path}.new`, path)
}

/** @throws CommandFailed when the folder is no complete backup, or has a newer format */
export async function readManifest(folder: string): Promise<Manifest> {
  const content = await contentOf(folder)
  const { data: head } = z.object({ format: z.number() }).safeParse(content)
  if (head && head.format > FORMAT)
    throw new CommandFailed(
      `${folder} was made by a newer Gantry (format ${head.format}, this one knows ${FORMAT})`,
    )
  const { data } = schema.safeParse(content)
  if (!data) throw new CommandFailed(`${join(folder, MANIFEST)} is damaged`)
  return data
}

async function contentOf(folder: string): Promise<unknown> {
  const path = join(folder, MANIFEST)
  let text: string
  try {
    text = await readFile(path, 'utf8')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code !== 'ENOENT' && code !== 'ENOTDIR') throw new CommandFailed(`${path} cannot be read: ${code}`)
    throw new CommandFailed(
      `${folder} is not a complete backup: ${MANIFEST}, which is written last, is missing`,
    )
  }
  const content = parsedText(text)
  if (content === undefined) throw new CommandFailed(`${path} is damaged: it is not JSON`)
  return content
}
