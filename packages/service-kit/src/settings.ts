import { z } from 'zod'

const UNITS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const

/** A duration such as 200ms, 5s, 5m, 2h. @returns milliseconds */
export const duration = z.string().transform((value, context) => {
  const [, amount, unit] = /^(\d+)(ms|s|m|h|d)$/.exec(value.trim()) ?? []
  if (amount === undefined || unit === undefined) {
    context.addIssue({
      code: 'custom',
      message: `must be a duration such as 200ms, 5s, 5m or 2h, not "${value}"`,
    })
    return z.NEVER
  }
  return Number(amount) * UNITS[unit as keyof typeof UNITS]
})

/** Durations separated by commas. @returns milliseconds */
export const durations = z
  .string()
  .transform(value => value.split(',').map(part => part.trim()))
  .pipe(z.array(duration).min(1))

/** A whole number from `min` to `max`. */
export const whole = (min: number, max: number) =>
  z
    .string()
    .regex(/^\d{1,10}$/, { error: `must be a whole number from ${min} to ${max}` })
    .transform(Number)
    .refine(value => value >= min && value <= max, { error: `must be from ${min} to ${max}` })

/** A path that every route is under: empty, or /like/this. */
export const basePath = z
  .string()
  .transform(value => value.replace(/\/+$/, ''))
  .refine(value => value === '' || /^(\/[\w.~-]+)+$/.test(value), { error: 'must be a path such as /gantry' })

export class SettingsRefused extends Error {}

/**
 * Reads settings from the environment, once. An empty value counts as absent.
 * @throws SettingsRefused naming every wrong setting, a line each
 */
export function readSettings<Schema extends z.ZodObject>(
  schema: Schema,
  environment: NodeJS.ProcessEnv,
): z.infer<Schema> {
  const given = Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ''))
  const parsed = schema.safeParse(given)
  if (parsed.success) return parsed.data
  throw new SettingsRefused(
    parsed.error.issues.map(issue => `${issue.path[0]?.toString()}: ${issue.message}`).join('\n'),
  )
}
