import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { replayState } from './replay-state.ts'

const replay = { source: 'http://a', destination: 'b', filter: '{}' }

test('a state has the last position, and belongs to one replay', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'gantry-replay-state-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const path = join(folder, 'state')
  const state = await replayState(path, replay)
  expect(state.position).toBeUndefined()
  for (const position of ['1', '2', undefined]) await state.save(position)
  await state.close()
  expect((await replayState(path, replay)).position).toBe('2')
  for (const other of [{ source: 'http://c' }, { destination: 'c' }, { filter: '{"type":["A"]}' }])
    await expect(replayState(path, { ...replay, ...other })).rejects.toThrow(/with other options/)
  await writeFile(path, '{"position": 7}')
  await expect(replayState(path, replay)).rejects.toThrow(/is no state of a replay/)
})
