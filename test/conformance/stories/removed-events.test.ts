import { inject, test } from 'vitest'
import { admin, createApi } from '../src/gantry.ts'
import { isGone } from '../src/positions.ts'

const removed = inject('removedPosition')
const skipped = 'needs a service that has removed events: REMOVED_POSITION is a position before them'

// Of a service that the suite starts, journeys/time.journey.ts tests the same with a clock that is ahead.
test.skipIf(removed === undefined)(
  'a position whose next events were removed is refused with the oldest position from which reading can continue',
  { meta: { skipped } },
  async () => {
    await createApi()
    await isGone(admin, removed ?? '')
  },
)
