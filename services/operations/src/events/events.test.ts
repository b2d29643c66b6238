import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { WrongUsage } from '../command.ts'
import { run as exportEvents } from './export.ts'
import { run as replay } from './replay.ts'
import { replayState } from './replay-state.ts'
import { run as tail } from './tail.ts'

/** Refused before anything is requested or written. */
test.for<[typeof tail, string, RegExp]>([
  [exportEvents, '', /takes one argument/],
  [exportEvents, 'a b', /takes one argument/],
  [tail, 'a', /takes no argument/],
  [tail, '--from noon', /noon is no time/],
  [tail, '--from 2026-01-01 --after p', /takes --from or --after/],
  [tail, '--since 2026-01-01', /Unknown option '--since'/],
  [replay, '', /needs one of --file/],
  [replay, '--file a --url http://b', /needs one of --file/],
  [replay, '--nats nats://a', /needs --subject with --nats/],
  [replay, '--nats nats://a --subject all.>', /is no subject to publish to/],
  [replay, '--nats sqlite:a --subject b', /needs a URL such as nats:/],
  [replay, '--url ftp://b', /needs an http or https URL for --url/],
  [replay, '--file a --rate 0', /--rate takes a number above 0/],
])('%s of the arguments "%s" is answered with the usage', async ([command, args, message]) => {
  const refused = command(args === '' ? [] : args.split(' '), {})
  await expect(refused).rejects.toThrow(WrongUsage)
  await expect(refused).rejects.toThrow(message)
})

const REPLAY = { source: 'http://a', destination: 'b', filter: '{}' }

test('a state has the last position, and belongs to one replay', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'gantry-replay-state-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const path = join(folder, 'state')
  const state = await replayState(path, REPLAY)
  expect(state.position).toBeUndefined()
  for (const position of ['1', '2', undefined]) await state.save(position)
  await state.close()
  expect((await replayState(path, REPLAY)).position).toBe('2')
  for (const other of [{ source: 'http://c' }, { destination: 'c' }, { filter: '{"type":["A"]}' }])
    await expect(replayState(path, { ...REPLAY, ...other })).rejects.toThrow(/with other options/)
  await writeFile(path, '{"position": 7}')
  await expect(replayState(path, REPLAY)).rejects.toThrow(/is no state of a replay/)
})
