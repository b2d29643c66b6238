import { vi } from 'vitest'
import { scaledTimeout } from './bin/timeouts.mjs'

const WAIT_MS = 10_000
const { waitFor } = vi

/** Waits longer than vitest by default: processes of a busy machine are often not scheduled for a second. */
vi.waitFor = (callback, options) =>
  waitFor(callback, {
    timeout: scaledTimeout(WAIT_MS),
    ...(typeof options === 'number' ? { timeout: options } : options),
  })
