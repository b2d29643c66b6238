import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Change, eventSchema } from '@gantry/contracts'
import type { RecordedEvent } from '@gantry/event-sourcing'
import { Ajv2020 } from 'ajv/dist/2020.js'
import formats from 'ajv-formats'
import { expect, test } from 'vitest'

const SERVICES = join(import.meta.dirname, '../../services')
const ajv = new Ajv2020()
formats.default(ajv)

/** The changes that earlier releases recorded. */
const changes = globSync('*/src/frozen/*/*.streams.json', { cwd: SERVICES }).flatMap(file => {
  const { streams } = JSON.parse(readFileSync(join(SERVICES, file), 'utf8')) as { streams: RecordedEvent[][] }
  return streams.flat().flatMap(({ metadata }) => {
    const change = metadata.change as Change | undefined
    return change ? [{ file, change }] : []
  })
})

test('the events that earlier releases recorded conform to version 1 of their schemas', () => {
  const faults = new Set<string>()
  const checked = new Set<string>()
  for (const { file, change } of changes) {
    const { action, after, before } = change
    const schema = eventSchema(action, 1, 'https://gantry.test') as { $id: string } | undefined
    // The data of these events are more than the changed resource.
    if (
      !schema ||
      change.resourceType === 'PLATFORM_EVENT' ||
      /^API_(UN)?DEPLOY|^WEBHOOK_FAILING/.test(action)
    )
      continue
    const validate = ajv.getSchema(schema.$id) ?? ajv.compile(schema)
    checked.add(action)
    if (!validate(after ?? before)) faults.add(`${action} in ${file}: ${ajv.errorsText(validate.errors)}`)
  }
  expect(checked.size).toBeGreaterThan(15)
  expect([...faults]).toEqual([])
})
