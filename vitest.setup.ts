import { vi } from 'vitest'

/** Only a state that never comes reaches it: processes of a busy machine are often not scheduled for seconds. */
const WAIT_MS = 100_000
const { waitFor } = vi

/** Waits longer than vitest by default. */
vi.waitFor = (callback, options) =>
  waitFor(callback, {
    timeout: WAIT_MS,
    ...(typeof options === 'number' ? { timeout: options } : options),
  })
