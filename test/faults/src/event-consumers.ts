import { type ChildProcess, execFile, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { endsWithParent } from '../../../bin/orphans.mjs'

const SAMPLES = resolve(import.meta.dirname, '../../../docs/samples/event-consumer')

export interface StreamedEvent {
  id: string
  type: string
  source: string
}

/** A sample consumer of the documentation, which appends the events to a file. */
export interface EventConsumer {
  /** Starts it, or starts it again, with the file that it has. */
  start(service: { url: string; authorization: string }): void
  /** Ends it with SIGKILL. Resolves when it has ended. */
  kill(): Promise<void>
  /** The events in its file. */
  events(): Promise<StreamedEvent[]>
}

/** By language: the program, and the command that starts the sample. */
const COMMANDS = {
  node: { program: process.execPath, command: async () => [process.execPath, join(SAMPLES, 'consumer.mjs')] },
  python: { program: 'python3', command: async () => ['python3', join(SAMPLES, 'consumer.py')] },
  go: {
    program: 'go',
    async command(folder: string) {
      const program = join(folder, 'consumer')
      await promisify(execFile)('go', ['build', '-o', program, join(SAMPLES, 'consumer.go')])
      return [program]
    },
  },
}

export const LANGUAGES: readonly string[] = Object.keys(COMMANDS)

/**
 * The sample consumers by language, not started.
 * @param folder for their files
 * @returns those whose language is installed
 * @throws Error when one cannot be compiled
 */
export async function eventConsumers(folder: string): Promise<Map<string, EventConsumer>> {
  const available = Object.entries(COMMANDS).filter(([, { program }]) => hasProgram(program))
  const made = available.map(async ([language, { command }]): Promise<[string, EventConsumer]> => {
    return [language, consumer(join(folder, `${language}.ndjson`), await command(folder))]
  })
  return new Map(await Promise.all(made))
}

const hasProgram = (program: string) =>
  spawnSync(program, [program === 'go' ? 'version' : '--version']).status === 0

function consumer(file: string, [program = '', ...args]: readonly string[]): EventConsumer {
  let child: ChildProcess | undefined
  return {
    start({ url, authorization }) {
      const env = { ...process.env, BASE_URL: url, GANTRY_TOKEN: authorization.replace('Bearer ', '') }
      child = endsWithParent(spawn(program, [...args, file], { env, stdio: 'ignore' }))
    },
    async kill() {
      if (!child || child.exitCode !== null || child.signalCode !== null) return
      const ended = once(child, 'close')
      child.kill('SIGKILL')
      await ended
    },
    events: async () => eventsIn(await readFile(file, 'utf8').catch(() => '')),
  }
}

/** The events in NDJSON, without a last line that is not complete. */
export const eventsIn = (text: string): StreamedEvent[] =>
  text
    .slice(0, text.lastIndexOf('\n') + 1)
    .split('\n')
    .filter(line => line.includes('"type"'))
    .map(line => JSON.parse(line) as StreamedEvent)

/** The ids of events by source, each list in the order of the events. */
export const bySource = (events: readonly Pick<StreamedEvent, 'id' | 'source'>[]): Record<string, string[]> =>
  Object.fromEntries(
    [...Map.groupBy(events, ({ source }) => source)]
      .map(([source, list]) => [source, list.map(({ id }) => id)] as const)
      .toSorted(),
  )
