import { fileOf, interruption, notice } from '../command.ts'
import { progressBar } from '../progress.ts'
import { remoteOf } from '../remote/remote.ts'
import { resumableFile } from '../resumable-file.ts'
import {
  elapsedPart,
  eventOf,
  FEED_LINES,
  FILTER_USAGE,
  feedLines,
  positionIn,
  readArguments,
} from './feed.ts'

export const USAGE = `usage: npm run events -- export FILE [OPTION]...

Writes the events up to now to a file, one JSON document per line. If the file has events, the command continues after
the last one: repeat it with the same options after an interruption, or later for the events since.

${FILTER_USAGE}`

export async function run(args: string[], environment: NodeJS.ProcessEnv): Promise<number> {
  const { selection, positionals } = readArguments(args, { own: {}, positionals: 1, usage: USAGE })
  const remote = remoteOf(environment)
  const path = fileOf(positionals[0] ?? '', environment)
  const file = await resumableFile(path, FEED_LINES)
  const ended = interruption()
  const after = file.lastLine === undefined ? selection.after : positionIn(file.lastLine)
  if (file.lastLine !== undefined) notice(`Continues after position ${after} in ${path}`)
  const bar = progressBar('events')
  let count = 0
  let first: string | undefined
  try {
    const options = { follow: false, signal: ended.signal }
    for await (const lines of feedLines(remote, { ...selection, after }, options)) {
      await file.append(lines)
      count += lines.length
      first ??= eventOf(lines[0] ?? '').time
      bar.show(elapsedPart(first, eventOf(lines.at(-1) ?? '').time, selection.filter.to as string), count)
    }
  } finally {
    bar.end()
    await file.close()
  }
  notice(
    `${count} events written to ${path}${ended.signal.aborted ? '; repeat the command to continue' : ''}`,
  )
  return ended.code(0)
}
