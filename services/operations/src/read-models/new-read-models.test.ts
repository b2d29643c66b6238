import { ReadModelsUnavailable } from '@gantry/stores'
import { expect, test, vi } from 'vitest'
import { CommandFailed } from '../command.ts'
import { untilMade } from './new-read-models.ts'

test('a projector that fails again and again without progress ends the wait with its error', async () => {
  const printed = vi.spyOn(process.stdout, 'write').mockImplementation((_text, ...rest) => {
    const done = rest.at(-1)
    if (typeof done === 'function') done()
    return true
  })
  const missing = ['the read models of media', 'the read models of catalog']
  const waitingFor = () => (missing.length > 1 ? missing.shift() : missing[0])
  const error = { message: 'the disk is full', at: '2026-11-22T10:00:00.000Z' }
  let calls = 0
  // The position moves once, and between two failures the projector begins again.
  const states = async () => {
    calls++
    return [{ name: 'catalog.projector', position: calls < 3 ? '' : '1', error: calls % 2 ? error : null }]
  }
  try {
    const made = untilMade({ waitingFor, states, failMs: 300 })
    await expect(made).rejects.toThrow('catalog.projector cannot make its read models: the disk is full')
    await expect(made).rejects.toThrow(CommandFailed)
    expect(calls).toBeGreaterThanOrEqual(5)
    expect(printed.mock.calls.map(([text]) => text)).toEqual([
      'Waits for the read models of media\n',
      'catalog.projector: the disk is full\n',
      'Waits for the read models of catalog\n',
      'catalog.projector: the disk is full\n',
    ])
  } finally {
    printed.mockRestore()
  }
})

test('an unexpected error of reading the states ends the wait, an unavailable store does not', async () => {
  const failures: Error[] = [new ReadModelsUnavailable('away'), new TypeError('a defect')]
  const states = async () => Promise.reject(failures.shift())
  const waitingFor = () => 'the read models of media'
  await expect(untilMade({ waitingFor, states })).rejects.toThrow('a defect')
  expect(failures).toEqual([])
})
