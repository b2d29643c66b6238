import { reportTo } from '../../vitest.config.ts'
import journeys from '../../vitest.journeys.config.ts'

/** The journeys whose runs get longer by larger counts, and faults under load: `npm run soak`, one after the other. */
export default {
  ...journeys,
  test: {
    ...journeys.test,
    include: ['journeys/{conformance,upgrade}.journey.ts', 'journeys/*.soak.ts'],
    fileParallelism: false,
    env: { SOAK: '1' },
    testTimeout: 3_600_000,
    hookTimeout: 900_000,
    reporters: reportTo('.cache/soak.json'),
  },
}
