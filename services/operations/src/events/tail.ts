import { styleText } from 'node:util'
import { harmless, type Interruption, interruption, print } from '../command.ts'
import { type Remote, remoteOf } from '../remote/remote.ts'
import { FIRST_GIVE_UP_MS, Retries } from '../retries.ts'
import { eventOf, type FeedEvent, FILTER_USAGE, feedLines, readArguments, type Selection } from './feed.ts'

export const USAGE = `usage: npm run events -- tail [OPTION]...

Prints each event as it happens, one per line, from now on, until it is interrupted.

${FILTER_USAGE}
  --json             print the events as JSON`

export async function run(args: string[], environment: NodeJS.ProcessEnv): Promise<number> {
  const { selection, options } = readArguments(args, {
    own: { json: { type: 'boolean' } },
    positionals: 0,
    usage: USAGE,
  })
  const remote = remoteOf(environment)
  const ended = interruption()
  // The reader of a pipe, e.g. head, may end first.
  process.stdout.on('error', () => process.exit(0))
  const begun = await withBeginning(remote, selection, ended)
  if (!begun) return ended.code(0)
  for await (const lines of feedLines(remote, begun, { follow: true, signal: ended.signal }))
    await print(options.json ? lines.join('\n') : lines.map(line => shown(eventOf(line))).join('\n'))
  return ended.code(0)
}

/**
 * Begins now, by the clock of the service, unless the arguments name a beginning.
 * @returns undefined when interrupted
 */
async function withBeginning(
  remote: Remote,
  selection: Selection,
  { signal }: Interruption,
): Promise<Selection | undefined> {
  if (selection.after !== undefined || selection.from !== undefined) return selection
  const retries = new Retries({ signal, giveUpMs: FIRST_GIVE_UP_MS })
  const query = { ...selection.filter, size: '1' }
  const answer = await retries.until(() =>
    remote.get('/events', query, { accept: 'application/json', signal }),
  )
  if (!answer) return undefined
  await answer.body?.cancel()
  const now = new Date(answer.headers.get('date') ?? Date.now())
  return { ...selection, from: now.toISOString() }
}

function shown({ time, type, subject, data, actor }: FeedEvent): string {
  const style = (format: Parameters<typeof styleText>[0], text: string) =>
    styleText(format, harmless(text), { stream: process.stdout })
  const name = [data.name, data.username, data.displayName].find(value => typeof value === 'string')
  const by = actor?.name ?? actor?.id
  return [
    style('dim', time),
    style(colourOf(type), type),
    harmless(subject),
    ...(name === undefined ? [] : [style('bold', String(name))]),
    ...(by ? [style('dim', `by ${by}`)] : []),
  ].join('  ')
}

function colourOf(type: string): 'red' | 'green' | 'cyan' {
  if (/(DELETED|FAILED|DISABLED|FAILING|REVOKED|LOCKED)$/.test(type)) return 'red'
  return type.endsWith('CREATED') ? 'green' : 'cyan'
}
