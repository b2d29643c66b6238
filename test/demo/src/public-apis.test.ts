import { expect, test } from 'vitest'
import { draw } from './drawing.ts'
import { readPublicApis } from './public-apis.ts'

const apis = readPublicApis()

test('there are 2,639 public APIs with unique names', () => {
  expect(apis).toHaveLength(2_639)
  expect(new Set(apis.map(({ name }) => name)).size).toBe(2_639)
})

test('all public APIs stay within the limits of the REST API', () => {
  for (const { name, displayName, description, url, tags, version } of apis) {
    for (const label of [name, displayName]) expect([...label].length).toBeGreaterThan(0)
    expect([...displayName].length).toBeLessThanOrEqual(255)
    expect([...(description ?? '')].length).toBeLessThanOrEqual(1000)
    expect((url ?? '').length).toBeLessThanOrEqual(2048)
    expect(tags.length).toBeLessThanOrEqual(50)
    expect([...version].length).toBeLessThanOrEqual(100)
    expect(`${name}${displayName}${version}`).not.toMatch(/\p{Cc}/u)
  }
})

test('a drawing is determined by the name and escapes markup in it', () => {
  expect(draw('ably.io:platform')).toBe(draw('ably.io:platform'))
  expect(draw('ably.io:platform')).not.toBe(draw('ably.io'))
  expect(draw('<script>"&')).not.toContain('<script>')
})
