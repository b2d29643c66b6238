import type { StreamedEvent } from '@gantry/contracts'
import { parsedText } from '@gantry/event-sourcing'
import type { z } from 'zod'
import { instant, parsed, WrongUsage } from '../command.ts'
import type { Query, Remote } from '../remote/remote.ts'
import { resumedLines } from '../remote/resumed-lines.ts'

/** Options that choose events, the same for all commands. */
export const FILTER_USAGE = `  --type TYPE        only events of this type; repeatable
  --api ID           only events of this API; also --webhook ID, --user ID
  --from TIME        begin with this time, e.g. 2026-11-22T00:00:00Z; --to TIME ends before a time
  --after POSITION   begin after this position`

const FILTERS = {
  type: { type: 'string', multiple: true },
  api: { type: 'string' },
  webhook: { type: 'string' },
  user: { type: 'string' },
  from: { type: 'string' },
  to: { type: 'string' },
  after: { type: 'string' },
} as const

type OptionValues = Readonly<Record<string, string | boolean | readonly (string | boolean)[] | undefined>>

/** Which events a command reads. */
export interface Selection {
  /** Filters of GET /events. */
  filter: Query
  /** Where to begin: a position or a time; the oldest event when both are undefined. */
  after: string | undefined
  from: string | undefined
}

export type FeedEvent = z.infer<typeof StreamedEvent>

interface OptionsOfCommand {
  /** Options beside those that choose events. */
  own: Readonly<Record<string, { type: 'string' | 'boolean' }>>
  /** Number of arguments that are no options. */
  positionals: number
  usage: string
}

/** The arguments of a command that reads events. @throws WrongUsage with the usage */
export function readArguments(
  args: string[],
  { own, positionals: count, usage }: OptionsOfCommand,
): { selection: Selection; options: OptionValues; positionals: string[] } {
  const refuse = (reason: string) => new WrongUsage(`${reason}\n${usage}`)
  const given = { args, options: { ...FILTERS, ...own }, allowPositionals: true }
  const { values, positionals } = parsed(usage, given)
  if (positionals.length !== count) throw refuse(`takes ${count === 0 ? 'no argument' : 'one argument'}`)
  const { type, api, webhook, user, from, to, after, ...options } = values as OptionValues
  if (from !== undefined && after !== undefined) throw refuse('takes --from or --after, not both')
  const text = (value: OptionValues[string]) => value as string | undefined
  return {
    selection: {
      filter: {
        type: type as string[] | undefined,
        api: text(api),
        webhook: text(webhook),
        user: text(user),
        to: instant(text(to), usage),
      },
      after: text(after),
      from: instant(text(from), usage),
    },
    options,
    positionals,
  }
}

interface Reading {
  follow: boolean
  signal: AbortSignal
}

/** A line that only says where a stream has arrived whose filters have let nothing pass for a while. */
const PROGRESS = '{"position":'

/** The events of the selection as lines of NDJSON, in batches, across lost connections. @throws CommandFailed */
export async function* feedLines(
  remote: Remote,
  { filter, after, from }: Selection,
  { follow, signal }: Reading,
): AsyncGenerator<string[]> {
  const received = resumedLines({
    open: (position, ended) =>
      remote.get(
        '/events',
        { ...filter, ...(position === undefined ? { from } : { after: position }), follow: String(follow) },
        { accept: 'application/x-ndjson', signal: ended },
      ),
    positionOf: line => positionIn(line),
    after,
    follow,
    signal,
  })
  for await (const lines of received) {
    const events = lines.filter(line => !line.startsWith(PROGRESS))
    if (events.length > 0) yield events
  }
}

/** The position of a line of the feed; undefined when it is no such line. */
export function positionIn(line: string): string | undefined {
  const found = parsedText(line) as Partial<FeedEvent> | null | undefined
  return typeof found?.position === 'string' ? found.position : undefined
}

/** Recognizes the lines of a file of events, so that a file of other lines is not continued. */
export const FEED_LINES = {
  isOwn: (line: string) => line.startsWith('{"id":') && positionIn(line) !== undefined,
  beginning: '{"id":',
}

export const eventOf = (line: string) => JSON.parse(line) as FeedEvent

/** The part of the feed that is read, from 0 to 1, by the times of the events: a position is opaque. */
export function elapsedPart(first: string, time: string, to: string | undefined): number {
  const begin = Date.parse(first)
  const end = Math.min(Date.now(), to === undefined ? Number.POSITIVE_INFINITY : Date.parse(to))
  return end > begin ? (Date.parse(time) - begin) / (end - begin) : 0
}
