import { z } from 'zod'

const UNITS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const

/** A duration such as 200ms, 5s, 5m, 2h. @returns milliseconds */
export const duration = z
  .string()
  .regex(/^\d+(ms|s|m|h|d)$/, {
    error: ({ input }) => `must be a duration such as 200ms, 5s, 5m or 2h, not "${input}"`,
  })
  .transform(value => Number.parseInt(value, 10) * UNITS[value.replace(/\d+/, '') as keyof typeof UNITS])

/** A duration in the syntax of settings, e.g. 1h or 90m, in the largest unit of which it is a multiple. */
export const writtenDuration = (ms: number): string => {
  const units = Object.entries(UNITS).toReversed()
  const [unit, length] = units.find(([, length]) => ms % length === 0) ?? ['ms', 1]
  return `${ms / length}${unit}`
}

/** Durations separated by commas. @returns a list of milliseconds */
export const durations = z
  .string()
  .transform(value => value.split(',').map(part => part.trim()))
  .pipe(z.array(duration).min(1))
