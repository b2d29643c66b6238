import { busSettings } from '@gantry/hosting'
import { openPublisher } from '@gantry/hosting/bus'
import { BusUnavailable } from '@gantry/messaging'
import { retryAfterMs } from '@gantry/pacing'
import { parseSecret, readSettings, SettingsRefused, signedHeaders } from '@gantry/service-runtime'
import { z } from 'zod'
import { CommandFailed, notice } from '../command.ts'
import { resumableFile } from '../resumable-file.ts'
import { Retries, reasonOf, TemporaryFailure } from '../retries.ts'
import { FEED_LINES, type FeedEvent, positionIn } from './feed.ts'

/** Where a replay sends events. The name has no secrets. */
export type Destination = { name: string } & (
  | { kind: 'file'; path: string }
  | { kind: 'nats'; url: string; subject: string }
  | { kind: 'webhook'; url: string }
)

export interface Target {
  /** Position of the last event that the target has, where it can tell. */
  readonly position?: string | undefined
  /** Number of events that are sent together. */
  readonly batch: number
  /**
   * Sends events in order. @returns whether the target has them all; false only after the signal was aborted
   * @throws CommandFailed
   */
  send(lines: readonly string[], events: readonly FeedEvent[]): Promise<boolean>
  close(): Promise<void>
}

/** @param signal ends the sending @throws CommandFailed, SettingsRefused */
export function openTarget(
  destination: Destination,
  environment: NodeJS.ProcessEnv,
  signal: AbortSignal,
): Promise<Target> {
  switch (destination.kind) {
    case 'file':
      return fileTarget(destination.path)
    case 'nats':
      return natsTarget(destination, environment, signal)
    case 'webhook':
      return webhookTarget(destination.url, environment, signal)
  }
}

async function fileTarget(path: string): Promise<Target> {
  const file = await resumableFile(path, FEED_LINES)
  return {
    position: file.lastLine === undefined ? undefined : positionIn(file.lastLine),
    batch: 1_000,
    async send(lines) {
      await file.append(lines)
      return true
    },
    close: file.close,
  }
}

async function natsTarget(
  { url, subject }: { url: string; subject: string },
  environment: NodeJS.ProcessEnv,
  signal: AbortSignal,
): Promise<Target> {
  const settings = readSettings(busSettings, { ...environment, MESSAGING_URL: url })
  const connected = () => openPublisher(settings, subject, '--nats')
  let publisher: Awaited<ReturnType<typeof connected>> | undefined = await connected().catch(error => {
    throw new CommandFailed(`cannot connect to NATS: ${natsReasonOf(error)}`)
  })
  const wasStored = publisher.stored
  if (!wasStored)
    notice(`No stream is known to store ${subject}: only subscribers of this moment get the events`)

  /** @throws CommandFailed when NATS refuses the messages, TemporaryFailure when it is away */
  const attempt = async (messages: { id: string; data: string }[]): Promise<true> => {
    publisher ??= await connected().catch(error => {
      throw new TemporaryFailure(`cannot connect to NATS again: ${natsReasonOf(error)}`)
    })
    /** The next attempt has a connection of its own, because a client does not use a lost one again. */
    const again = async (reason: string) => {
      await publisher?.close()
      publisher = undefined
      return new TemporaryFailure(reason)
    }
    if (wasStored && !publisher.stored) throw await again(`no stream stores ${subject} any more`)
    try {
      await publisher.publish(messages)
      return true
    } catch (error) {
      const reason = `NATS did not accept the events: ${natsReasonOf(error)}`
      if (!(error instanceof BusUnavailable)) throw new CommandFailed(reason)
      throw await again(reason)
    }
  }

  return {
    batch: 256,
    async send(lines, events) {
      const messages = events.map(({ id }, index) => ({ id, data: lines[index] ?? '' }))
      return (await new Retries({ signal }).until(() => attempt(messages))) ?? false
    },
    close: async () => publisher?.close(),
  }
}

/** The reason without the name that the bus has in the services. */
const natsReasonOf = (error: unknown) =>
  error instanceof BusUnavailable ? String(error.cause) : (error as Error).message

const secretSettings = z.object({
  WEBHOOK_SECRET: z.string({ error: 'must be set to the whsec_ secret that signs the requests' }),
})
const TIMEOUT_MS = 15_000

async function webhookTarget(
  url: string,
  environment: NodeJS.ProcessEnv,
  signal: AbortSignal,
): Promise<Target> {
  const secret = parseSecret(readSettings(secretSettings, environment).WEBHOOK_SECRET)
  if (!secret) throw new SettingsRefused('WEBHOOK_SECRET: must be whsec_ and 24 to 64 bytes in base64')

  const deliver = async ({ id, type, time, data }: FeedEvent) => {
    const body = Buffer.from(JSON.stringify({ id, type, timestamp: time, data }))
    const delivered = await new Retries({ signal }).until(async () => {
      const headers = signedHeaders(id, Math.floor(Date.now() / 1_000), body, [secret])
      const failure = await post(url, body, headers)
      if (!failure) return true
      const message = `the webhook did not accept event ${id}: ${failure.reason}`
      throw failure.isFinal ? new CommandFailed(message) : new TemporaryFailure(message, failure.retryAfterMs)
    })
    return delivered ?? false
  }

  return {
    batch: 1,
    async send(_, events) {
      for (const event of events) if (!(await deliver(event))) return false
      return true
    },
    close: async () => {},
  }
}

interface Failure {
  reason: string
  /** Whether the receiver wants no further attempt. */
  isFinal: boolean
  retryAfterMs?: number | undefined
}

/** Sends one request, without following redirects. @returns undefined after an answer 2xx */
async function post(
  url: string,
  body: Buffer,
  headers: Record<string, string>,
): Promise<Failure | undefined> {
  try {
    const answer = await fetch(url, {
      method: 'POST',
      body: new Uint8Array(body),
      headers: { ...headers, 'content-type': 'application/json', 'user-agent': 'Gantry-Replay' },
      redirect: 'manual',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    })
    await answer.body?.cancel()
    if (answer.ok) return undefined
    const { status, headers: answered } = answer
    const pause = retryAfterMs(status, answered.get('retry-after') ?? undefined, new Date())
    return { reason: `it answered ${status}`, isFinal: status === 410, retryAfterMs: pause }
  } catch (error) {
    return { reason: reasonOf(error), isFinal: false }
  }
}
