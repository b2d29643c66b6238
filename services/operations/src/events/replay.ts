import { setTimeout as pause } from 'node:timers/promises'
import { fileOf, interruption, notice, WrongUsage } from '../command.ts'
import { progressBar } from '../progress.ts'
import { remoteOf } from '../remote/remote.ts'
import { elapsedPart, eventOf, FILTER_USAGE, feedLines, readArguments } from './feed.ts'
import { replayState } from './replay-state.ts'
import { type Destination, openTarget } from './targets.ts'

export const USAGE = `usage: npm run events -- replay (--file FILE | --nats URL --subject SUBJECT | --url URL) [OPTION]...

Sends the events of the past, from a position or time up to now, in their order:
  --file FILE        appends them to a file, one JSON document per line
  --nats URL --subject SUBJECT
                     publishes them with the id of the event as Nats-Msg-Id, and waits for the acknowledgement where a
                     stream stores the subject. Credentials are in the URL or in NATS_USER, NATS_PASSWORD, …
  --url URL          posts each as webhooks receive it, signed with the whsec_ secret of WEBHOOK_SECRET; webhook-id is the
                     id of the event. An attempt is repeated for up to two minutes unless the answer is 2xx
  --rate NUMBER      sends at most this number of events per second
  --state FILE       keeps the position in this file: the same command continues there

${FILTER_USAGE}

An event may be sent again after an interruption, always with the same id.`

export async function run(args: string[], environment: NodeJS.ProcessEnv): Promise<number> {
  const text = { type: 'string' } as const
  const own = { file: text, nats: text, subject: text, url: text, rate: text, state: text }
  const { selection, options } = readArguments(args, { own, positionals: 0, usage: USAGE })
  const destination = destinationIn(options as Record<keyof typeof own, string | undefined>, environment)
  const rate = rateIn(options.rate as string | undefined)
  const remote = remoteOf(environment)
  const ended = interruption()
  const state = await replayState(
    options.state === undefined ? undefined : fileOf(String(options.state), environment),
    { source: remote.baseUrl, destination: destination.name, filter: JSON.stringify(selection) },
  )
  const target = await openTarget(destination, environment, ended.signal)
  const bar = progressBar('events')
  let count = 0
  let first: string | undefined
  let position = target.position ?? state.position ?? selection.after
  try {
    const reading = { follow: false, signal: ended.signal }
    for await (const lines of feedLines(remote, { ...selection, after: position }, reading)) {
      for (const batch of batchesOf(lines, rate === undefined ? target.batch : 1)) {
        if (ended.signal.aborted) break
        const dueAt = performance.now() + (rate === undefined ? 0 : (1_000 * batch.length) / rate)
        const events = batch.map(eventOf)
        if (!(await target.send(batch, events))) break
        count += events.length
        const last = events.at(-1)
        first ??= events[0]?.time
        position = last?.position
        await state.save(position)
        bar.show(elapsedPart(first ?? '', last?.time ?? '', selection.filter.to as string), count)
        const earlyMs = dueAt - performance.now()
        if (earlyMs > 0) await pause(earlyMs, undefined, { signal: ended.signal }).catch(() => {})
      }
    }
  } finally {
    bar.end()
    await state.close()
    await target.close()
    notice(`${count} events sent to ${destination.name}; the last position is ${position ?? 'none'}`)
  }
  return ended.code(0)
}

type Given = Readonly<Record<'file' | 'nats' | 'subject' | 'url', string | undefined>>

/** @throws WrongUsage unless exactly one destination is given, completely */
function destinationIn({ file, nats, subject, url }: Given, environment: NodeJS.ProcessEnv): Destination {
  const refuse = (reason: string) => new WrongUsage(`${reason}\n${USAGE}`)
  if ([file, nats, url].filter(given => given !== undefined).length !== 1)
    throw refuse('needs one of --file, --nats and --url')
  if ((nats === undefined) !== (subject === undefined)) throw refuse('needs --subject with --nats')
  if (file !== undefined) {
    const path = fileOf(file, environment)
    return { kind: 'file', path, name: path }
  }
  if (nats !== undefined) {
    if (!/^(nats|tls):\/\/./.test(nats))
      throw refuse('needs a URL such as nats://host:4222 or tls://host:4222 for --nats')
    if (!/^[^\s.*>]+(\.[^\s.*>]+)*$/.test(subject ?? ''))
      throw refuse(`${subject} is no subject to publish to`)
    return { kind: 'nats', url: nats, subject: subject ?? '', name: `the subject ${subject}` }
  }
  const receiver = URL.parse(url ?? '')
  if (!receiver || !/^https?:$/.test(receiver.protocol)) throw refuse('needs an http or https URL for --url')
  return { kind: 'webhook', url: receiver.href, name: `${receiver.origin}${receiver.pathname}` }
}

function rateIn(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const rate = Number(text)
  if (rate > 0 && rate <= 1_000_000) return rate
  throw new WrongUsage(`--rate takes a number above 0\n${USAGE}`)
}

function* batchesOf<Item>(items: readonly Item[], size: number): Generator<Item[]> {
  for (let from = 0; from < items.length; from += size) yield items.slice(from, from + size)
}
