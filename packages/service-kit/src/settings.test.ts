import { expect, test } from 'vitest'
import { z } from 'zod'
import { basePath, duration, durations, readSettings, SettingsRefused, whole } from './settings.ts'

const schema = z.object({
  PORT: whole(0, 65_535).default(8080),
  TIMEOUT: duration.optional(),
  SCHEDULE: durations.optional(),
  BASE_PATH: basePath.default(''),
})

test('reads what is set and leaves the rest at its defaults; an empty value counts as absent', () => {
  expect(readSettings(schema, { TIMEOUT: '200ms', SCHEDULE: '5s, 5m,2h', PORT: '', OTHER: 'x' })).toEqual({
    PORT: 8080,
    TIMEOUT: 200,
    SCHEDULE: [5_000, 300_000, 7_200_000],
    BASE_PATH: '',
  })
  expect(readSettings(schema, { BASE_PATH: '/gantry/' }).BASE_PATH).toBe('/gantry')
})

test('names every wrong setting, a line each', () => {
  const read = () => readSettings(schema, { PORT: '70000', TIMEOUT: '5 parsecs', BASE_PATH: 'x y' })
  expect(read).toThrow(SettingsRefused)
  expect(read).toThrow(/^PORT: .*\nTIMEOUT: .*5 parsecs.*\nBASE_PATH: .*$/)
})
