import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { duration, durations, writtenDuration } from './durations.ts'
import {
  basePath,
  bodyMemory,
  partOfMemory,
  publicUrl,
  readSettings,
  SettingsRefused,
  whole,
} from './settings.ts'

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

test.each(['200ms', '5s', '90m', '1h', '30d'])('writes the duration %s as it is read', text => {
  expect(writtenDuration(duration.parse(text))).toBe(text)
})

test.each([
  ['https://gantry.example.com/manage/', 'https://gantry.example.com/manage'],
  ['http://localhost:8080', 'http://localhost:8080'],
])('reads the address %s of the service for its clients', (text, url) => {
  expect(publicUrl.parse(text)).toBe(url)
})

test.each([
  'gantry.example.com',
  'ftp://a.example',
  'https://user@a.example',
  'https://a.example/?b',
  'https://a b',
])('refuses the address %s of the service', text => expect(publicUrl.safeParse(text).success).toBe(false))

test('names every wrong setting, one per line', () => {
  const read = () => readSettings(schema, { PORT: '70000', TIMEOUT: '5 parsecs', BASE_PATH: 'x y' })
  expect(read).toThrow(SettingsRefused)
  expect(read).toThrow(/^PORT: .*\nTIMEOUT: .*5 parsecs.*\nBASE_PATH: .*$/)
})

test('refuses settings that contradict each other, and reports a wrong value before', () => {
  const metered = schema.extend({ METRICS_PORT: whole(0, 65_535).optional() })
  const read = (environment: Record<string, string>) => () => readSettings(metered, environment)
  expect(read({ METRICS_PORT: '8080' })).toThrow(/^METRICS_PORT: must be another port than PORT$/)
  expect(read({ METRICS_PORT: '8080', TIMEOUT: '5' })).toThrow(/^TIMEOUT: must be a duration[^\n]*$/)
})

test('refuses a name that differs by one letter from a setting of the process, and ignores other unknown names', () => {
  const read = () => readSettings(schema, { PROT: '8081', TIMEUOT: 'x', GATEWAY_SERVICE_HOST: 'x' })
  expect(read).toThrow(SettingsRefused)
  expect(read).toThrow(/^PROT: is not a setting; did you mean PORT\?\nTIMEUOT: .* TIMEOUT\?$/)
})

describe('a setting from a file', () => {
  let folder: string
  const file = (name: string, text: string) => {
    const path = join(folder, name)
    writeFileSync(path, text)
    return path
  }
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'gantry-settings-'))
  })
  afterAll(() => rmSync(folder, { recursive: true }))

  test('is read like a variable, without the line break at the end of the file', () => {
    expect(readSettings(schema, { TIMEOUT_FILE: file('timeout', '5s\n') }).TIMEOUT).toBe(5_000)
    expect(() => readSettings(schema, { PORT_FILE: file('port', '70000\n') })).toThrow(
      /^PORT: must be from 0/,
    )
  })

  test('is refused in a line that names the file if the file does not exist', () => {
    expect(() => readSettings(schema, { PORT_FILE: join(folder, 'missing') })).toThrow(
      /^PORT_FILE: ENOENT.*missing/,
    )
  })

  test('is refused if the setting itself is set as well', () => {
    expect(() => readSettings(schema, { PORT: '1', PORT_FILE: file('port', '2') })).toThrow(
      'PORT_FILE: and PORT are both set; remove one of them',
    )
  })

  test('is ignored by a schema without that setting', () => {
    expect(readSettings(schema, { SECRET_FILE: join(folder, 'missing') }).PORT).toBe(8080)
  })
})

describe('BODY_MEMORY', () => {
  const GIBIBYTE = 1_073_741_824
  test.each([
    [512 * 1_048_576, 128 * 1_048_576],
    [4 * GIBIBYTE, GIBIBYTE],
    [64 * 1_048_576, 32 * 1_048_576],
    [0, 256 * 1_048_576],
    [16 * GIBIBYTE, 256 * 1_048_576],
    [2 ** 63, 256 * 1_048_576],
  ])('of a container that may use %d bytes of 16 GiB is %d', (constrained, expected) => {
    expect(partOfMemory(1 / 4, constrained, 16 * GIBIBYTE)).toBe(expected)
  })

  test('is a size of at least 32 MiB', () => {
    const read = (text: string) => readSettings(z.object({ BODY_MEMORY: bodyMemory }), { BODY_MEMORY: text })
    expect(read('32MiB')).toEqual({ BODY_MEMORY: 32 * 1_048_576 })
    expect(read('2GiB')).toEqual({ BODY_MEMORY: 2 * GIBIBYTE })
    expect(read('65536KiB')).toEqual({ BODY_MEMORY: 64 * 1_048_576 })
    for (const wrong of ['31MiB', '128', '64Mi', '64 MiB', '-1GiB', '1e3MiB', '1.5GiB'])
      expect(() => read(wrong)).toThrow(/BODY_MEMORY: must be (a size such as 64MiB|at least 32MiB)/)
  })
})
