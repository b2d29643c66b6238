import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { enteredFiles } from './src/entered-files.ts'
import { linesOf } from './src/lines.ts'
import { projectFiles } from './src/project-files.ts'

interface Recorded {
  /** The recorded value. */
  most: number
  /** Why the last commit that raised it did so. */
  why: string
}

const recorded = JSON.parse(readFileSync(join(import.meta.dirname, 'ratchet.json'), 'utf8')) as Record<
  'productLines' | 'testLines' | 'commandFiles' | 'eventFiles' | 'processorTime',
  Recorded
>
/** A value that has fallen by more than this part is recorded anew, so that it cannot grow back. */
const SLACK = 0.03

function holds(name: keyof typeof recorded, value: number) {
  const { most } = recorded[name]
  expect(value, `${name} grew: do with less, or raise it in ratchet.json and say why`).toBeLessThanOrEqual(
    most,
  )
  expect(value, `${name} fell: lower it in ratchet.json`).toBeGreaterThan(most * (1 - SLACK))
}

test('the product and the tests have at most the recorded number of lines', () => {
  const { product, tests } = linesOf(projectFiles())
  holds('productLines', product)
  holds('testLines', tests)
})

test('POST /apis and the way of its event to a webhook enter at most the recorded number of files', async () => {
  const { command, event } = await enteredFiles(
    entered =>
      entered.command.length <= recorded.commandFiles.most &&
      entered.event.length <= recorded.eventFiles.most,
  )
  expect(command).toContain('services/catalog/src/api/api.decide.ts')
  expect(event).toContain('services/notifier/src/webhook/signing.ts')
  expect(command.length, command.join('\n')).toBeLessThanOrEqual(recorded.commandFiles.most)
  expect(event.length, event.join('\n')).toBeLessThanOrEqual(recorded.eventFiles.most)
})
