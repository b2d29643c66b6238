import { Registry } from 'prom-client'
import { expect, test } from 'vitest'
import { exportSlots } from './slots.ts'

const refusal = (code: string, detail: RegExp) =>
  expect.objectContaining({
    code,
    details: expect.objectContaining({ detail: expect.stringMatching(detail) }),
  })

test('a user runs two exports at a time, and a process four', async () => {
  const registry = new Registry()
  const slots = exportSlots(registry)
  const free = slots.take('ada')
  slots.take('ada')
  expect(() => slots.take('ada')).toThrow(refusal('too-many-requests', /^2 exports of this user are running/))
  slots.take('grace')
  free()
  free()
  slots.take('ada')
  slots.take('grace')
  expect(() => slots.take('linus')).toThrow(refusal('too-many-exports', /^4 exports are running/))
  expect((await registry.getSingleMetric('gantry_audit_exports')?.get())?.values[0]?.value).toBe(4)
})
