import { readFile, rename, writeFile } from 'node:fs/promises'
import { parsedText } from '@gantry/event-sourcing'
import { z } from 'zod'
import { CommandFailed } from '../command.ts'

/** The position up to which a replay has sent all events. */
export interface ReplayState {
  readonly position: string | undefined
  /** Writes the position to the file, at most every 200 ms. */
  save(position: string | undefined): Promise<void>
  /** Writes the last position. */
  close(): Promise<void>
}

/** What a state belongs to. A replay with other options must not continue it. */
interface Replay {
  source: string
  destination: string
  filter: string
}

const Stored = z.object({
  source: z.string(),
  destination: z.string(),
  filter: z.string(),
  position: z.string(),
})
const INTERVAL_MS = 200

/** @param path of the file; undefined keeps no state @throws CommandFailed when the file belongs to another replay */
export async function replayState(path: string | undefined, replay: Replay): Promise<ReplayState> {
  if (path === undefined) return { position: undefined, save: async () => {}, close: async () => {} }
  let savedAt = Number.NEGATIVE_INFINITY
  let unsaved: string | undefined
  const write = async () => {
    if (unsaved === undefined) return
    const next = `${path}.new`
    await writeFile(next, `${JSON.stringify({ ...replay, position: unsaved })}\n`, {
      mode: 0o600,
      flush: true,
    })
    await rename(next, path)
    savedAt = performance.now()
    unsaved = undefined
  }
  return {
    position: await storedPosition(path, replay),
    async save(position) {
      unsaved = position ?? unsaved
      if (performance.now() - savedAt >= INTERVAL_MS) await write()
    },
    close: write,
  }
}

async function storedPosition(path: string, replay: Replay): Promise<string | undefined> {
  let text: string
  try {
    text = await readFile(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw new CommandFailed(`cannot read ${path}: ${(error as Error).message}`)
  }
  const { data: stored } = Stored.safeParse(parsedText(text))
  if (!stored) throw new CommandFailed(`${path} is no state of a replay: name another file`)
  const same = (['source', 'destination', 'filter'] as const).every(name => stored[name] === replay[name])
  if (!same) throw new CommandFailed(`${path} is the state of a replay with other options: name another file`)
  return stored.position
}
