import { type ConfirmLease, underLease } from '@gantry/event-sourcing'
import { type Lease, LeaseLost, type Leases } from '@gantry/stores'
import { expect, onTestFinished, test, vi } from 'vitest'

const TTL_MS = 200

/** Leases that are always granted, and renewed when `renews` resolves. */
const leasing = (renews: () => Promise<void>): Leases => {
  let given: Lease | undefined
  return {
    async acquire(name, holder) {
      if (given) await renews()
      given = { name, holder, token: 1 }
      return given
    },
    async release() {},
  }
}
const holding = (leases: Leases, task: (confirm: ConfirmLease) => Promise<void>) => {
  const { signal } = new AbortController()
  const options = { leases, name: 'test', holder: 'one', signal, ttlMs: TTL_MS }
  return underLease(options, (_lease, _signal, confirm) => task(confirm))
}
/** Blocks the whole process, timers included. */
const freeze = (ms: number) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
/** Replaces the timers and the clock until the end of the test, so that they advance only as told. */
const stopTime = () => {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
}

test('a renewed lease is confirmed at any time', async () => {
  stopTime()
  await holding(
    leasing(async () => {}),
    async confirm => {
      for (let ms = 0; ms <= 3 * TTL_MS; ms += 10) {
        await vi.advanceTimersByTimeAsync(10)
        confirm()
      }
    },
  )
})

test('a lease is not confirmed after a pause of the process, before any timer has run', async () => {
  const ending = holding(
    leasing(async () => {}),
    async confirm => {
      confirm()
      freeze(TTL_MS + 50)
      confirm()
    },
  )
  await expect(ending).rejects.toBeInstanceOf(LeaseLost)
})

test('a lease is not confirmed while the store does not answer a renewal', async () => {
  stopTime()
  const answer = Promise.withResolvers<void>()
  onTestFinished(() => answer.resolve())
  const refused = Promise.withResolvers<unknown>()
  const ending = holding(
    leasing(() => answer.promise),
    async confirm => {
      await vi.advanceTimersByTimeAsync(TTL_MS + 50)
      try {
        confirm()
      } catch (error) {
        refused.resolve(error)
      }
    },
  )
  expect(await refused.promise).toBeInstanceOf(LeaseLost)
  answer.resolve()
  await ending
})
