import { expect, test } from 'vitest'
import { draw } from './drawing.ts'
import { readPublicApis } from './public-apis.ts'

const apis = readPublicApis()

test('are 2,639, each with a name of its own', () => {
  expect(apis).toHaveLength(2_639)
  expect(new Set(apis.map(({ name }) => name)).size).toBe(2_639)
})

test('stay within the limits of the interface, whatever the directory says', () => {
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

test('a drawing is the same every time, differs by name, and lets no markup in', () => {
  expect(draw('ably.io:platform')).toBe(draw('ably.io:platform'))
  expect(draw('ably.io:platform')).not.toBe(draw('ably.io'))
  expect(draw('<script>"&')).not.toContain('<script>')
})
