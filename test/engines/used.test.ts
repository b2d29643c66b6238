import { expect, test } from 'vitest'
import { findMongo } from './src/find-mongo.ts'
import { findNats } from './src/find-nats.ts'
import { onPath } from './src/program.ts'

/** Either is installed by the first that is there, where nobody brings one. */
const ENGINES = [
  ['NATS', findNats, ['go', 'apt-get']],
  ['MongoDB', findMongo, ['go']],
] as const

test.for(ENGINES)(
  '%s is used wherever it can be had',
  { timeout: 900_000 },
  async ([engine, find, tools]: (typeof ENGINES)[number], { skip }) => {
    const found = await find()
    if (found.found) return expect(found.description).not.toMatch(/stand-in/)
    const there = (await Promise.all(tools.map(onPath))).filter(path => path !== undefined)
    skip(there.length === 0, `${engine} cannot be had here: ${found.how}`)
    skip(!process.env.CI, `${engine} could not be installed with ${there}: no network? In CI this fails`)
    expect(there, `${engine} could have been installed with`).toEqual([])
  },
)
