/**
 * For `node --import`: simulates a machine with a wrong clock. `Date` is CLOCK_SHIFT_MS milliseconds ahead, or behind
 * when the value is negative. Monotonic clocks and timers are not affected.
 */
const shift = Number(process.env.CLOCK_SHIFT_MS)
if (!Number.isInteger(shift))
  throw new Error(`CLOCK_SHIFT_MS must be whole milliseconds, not ${process.env.CLOCK_SHIFT_MS}`)

const TrueDate = Date
const now = () => TrueDate.now() + shift

globalThis.Date = new Proxy(TrueDate, {
  construct: (date, given, made) => Reflect.construct(date, given.length > 0 ? given : [now()], made),
  apply: () => new TrueDate(now()).toString(),
  get: (date, property) => (property === 'now' ? now : Reflect.get(date, property)),
})
