import { expect, test } from 'vitest'
import { findMongo } from './src/find-mongo.ts'
import { findNats } from './src/find-nats.ts'
import { onPath } from './src/program.ts'

/** The tools with which each server is installed, unless one is provided. */
const ENGINES = [
  ['NATS', findNats, ['go', 'apt-get']],
  ['MongoDB', findMongo, ['go']],
] as const

test.for(ENGINES)(
  '%s is used when it is available',
  { timeout: 3_600_000 },
  async ([engine, find, tools]: (typeof ENGINES)[number], { skip }) => {
    const found = await find()
    if (found.found) return expect(found.description).not.toMatch(/stand-in/)
    const there = (await Promise.all(tools.map(onPath))).filter(path => path !== undefined)
    skip(there.length === 0, `${engine} is not available here: ${found.how}`)
    skip(!process.env.CI, `${engine} could not be installed with ${there}: no network? In CI this fails`)
    expect(there, `${engine} could have been installed with`).toEqual([])
  },
)
