import { readFileSync } from 'node:fs'
import { totalmem } from 'node:os'
import { z } from 'zod'
import { duration } from './durations.ts'
import { settingConflicts } from './setting-conflicts.ts'

export const shutdownTimeout = duration
  .refine(ms => ms >= 1_000 && ms <= 3_600_000, { error: 'must be from 1s to 1h' })
  .prefault('25s')
  .describe(
    'How long a process that stops then completes the requests and the work in progress, from 1s to 1h.',
  )

/** A whole number from `min` to `max`. */
export const whole = (min: number, max: number) =>
  z
    .string()
    .regex(/^\d{1,10}$/, { error: `must be a whole number from ${min} to ${max}` })
    .transform(Number)
    .refine(value => value >= min && value <= max, { error: `must be from ${min} to ${max}` })

/** 32 bytes in base64 or hexadecimal. @param error message when the key is not set */
export const key = (error = 'must be set') =>
  z
    .string({ error })
    .transform(text => Buffer.from(text, /^[0-9a-f]{64}$/i.test(text) ? 'hex' : 'base64'))
    .refine(bytes => bytes.length === 32, { error: 'must be 32 bytes, in base64 or hexadecimal' })

/** A port to listen on; 0 for any free one. */
export const port = whole(0, 65_535)

const SIZES = { KiB: 1_024, MiB: 1_048_576, GiB: 1_073_741_824 } as const

/** A size such as 512KiB, 64MiB or 1GiB, of at least `min` bytes. @returns bytes */
const size = (min: number) =>
  z
    .string()
    .regex(/^\d{1,6}(KiB|MiB|GiB)$/, {
      error: ({ input }) => `must be a size such as 64MiB or 1GiB, not "${input}"`,
    })
    .transform(value => Number.parseInt(value, 10) * SIZES[value.slice(-3) as keyof typeof SIZES])
    .refine(bytes => bytes >= min, { error: `must be at least ${min / SIZES.MiB}MiB` })

/** The least memory for request bodies and responses, and that without a limit of the container, before it is divided. */
const LEAST_MEMORY = 128 * SIZES.MiB
const USUAL_MEMORY = SIZES.GiB

/**
 * A part of the container's memory limit, in bytes. A limit below 128 MiB counts as 128 MiB; without a limit, 1 GiB counts.
 * @param constrained memory limit of the container in bytes; 0, or not below `machine`, when there is no limit
 * @param machine memory of the machine in bytes
 */
export function partOfMemory(part: number, constrained: number, machine: number): number {
  const isLimited = constrained > 0 && constrained < machine
  return Math.floor(part * (isLimited ? Math.max(LEAST_MEMORY, constrained) : USUAL_MEMORY))
}

const memory = (part: number, shown: string, description: string) =>
  size(part * LEAST_MEMORY)
    .default(() => partOfMemory(part, process.constrainedMemory(), totalmem()))
    .meta({ description, shown })

/** BODY_MEMORY. One caller may use a quarter of it: with the minimum this is enough to check the largest SVG (5 MiB). */
export const bodyMemory = memory(
  1 / 4,
  'a quarter of the memory limit of the container, without one 256MiB',
  'Maximum bytes of request bodies in memory at once, at least `32MiB`; one caller may use a quarter of it. See ' +
    '[Memory for bodies](#memory-for-bodies).',
)

export const responseMemory = memory(
  1 / 8,
  'an eighth of the memory limit of the container, without one 128MiB',
  'Maximum bytes of responses that clients have not received, at least `16MiB`; one caller may use a quarter of it, ' +
    'all without credentials a half.',
)

/** The path prefix of all routes: empty, or e.g. /gantry. */
export const basePath = z
  .string()
  .regex(/^(\/[A-Za-z0-9_.~-]+)*\/*$/, { error: 'must be a path such as /gantry' })
  .transform(value => value.replace(/\/+$/, ''))

/** The address of the service as its clients reach it, with its path. A slash at its end is dropped. */
export const publicUrl = z
  .string()
  .transform(value => value.replace(/\/+$/, ''))
  .refine(isPublicUrl, { error: 'must be the URL of the service, such as https://gantry.example.com/manage' })

function isPublicUrl(value: string): boolean {
  const url = URL.parse(value)
  return url !== null && /^https?:$/.test(url.protocol) && !/[?#@\s]/.test(value)
}

/** Splits a text at commas and drops white space and empty items. */
export const list = (value: string) =>
  value
    .split(',')
    .map(item => item.trim())
    .filter(item => item !== '')

/** The URLs of a service: one per replica, or one whose host name resolves to all replicas. */
export const origins = z
  .string({
    error:
      'must be set: a URL of all replicas, e.g. http://catalog:8080, or one of each, separated by commas',
  })
  .transform(list)
  .refine(urls => urls.length > 0 && urls.every(isHttpOrigin), {
    error: 'must be URLs of host and port such as http://10.0.0.7:8080, separated by commas',
  })

function isHttpOrigin(value: string): boolean {
  const url = URL.parse(value)
  return url !== null && /^https?:$/.test(url.protocol) && url.origin === value
}

export class SettingsRefused extends Error {}

/**
 * Reads settings from the environment. An empty value counts as absent. A setting may also be in a file, as Docker and
 * Kubernetes mount secrets: the variable `{NAME}_FILE` has its path, and a line break at its end is dropped. A variable
 * that is not a setting of any process is ignored, unless it differs from one by a single letter.
 * @throws SettingsRefused naming every wrong or contradictory setting, one per line
 */
export function readSettings<Schema extends z.ZodObject>(
  schema: Schema,
  environment: NodeJS.ProcessEnv,
): z.infer<Schema> {
  const given = Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ''))
  const troubles = misspelledSettings(environment, Object.keys(schema.shape))
  for (const name of Object.keys(schema.shape)) {
    const path = given[`${name}_FILE`]
    if (path === undefined) continue
    try {
      if (given[name] !== undefined) throw new Error(`and ${name} are both set; remove one of them`)
      given[name] = readFileSync(path, 'utf8').replace(/\r?\n$/, '')
    } catch (error) {
      troubles.push(`${name}_FILE: ${(error as Error).message}`)
    }
  }
  if (troubles.length > 0) throw new SettingsRefused(troubles.join('\n'))
  const parsed = schema.safeParse(given)
  const refusals = parsed.success
    ? settingConflicts(parsed.data, new Set(Object.keys(schema.shape).filter(name => given[name])))
    : parsed.error.issues.map(issue => `${issue.path[0]?.toString()}: ${issue.message}`)
  if (!parsed.success || refusals.length > 0) throw new SettingsRefused(refusals.join('\n'))
  return parsed.data
}

/** Unrelated variables that resemble a setting. Mesos Marathon sets PORTS for every task. */
const FOREIGN = new Set(['PORTS'])

/**
 * Finds variables that are not settings and differ from one by one letter changed, added or left out, or by two adjacent
 * letters swapped. Digits do not count as letters, because Mesos Marathon sets PORT0 and PORT1.
 * @param settings names of the settings of the process; no setting of another process differs from one by one letter
 * @returns a line per variable, with the similar settings
 */
export function misspelledSettings(environment: NodeJS.ProcessEnv, settings: readonly string[]): string[] {
  const known = new Set(settings.flatMap(name => [name, `${name}_FILE`]))
  return Object.keys(environment)
    .filter(name => !known.has(name) && !FOREIGN.has(name))
    .flatMap(name => {
      const meant = [...known].filter(known => isOneLetterApart(name, known))
      return meant.length > 0 ? [`${name}: is not a setting; did you mean ${meant.join(' or ')}?`] : []
    })
}

/** Compares two different texts. */
function isOneLetterApart(one: string, other: string): boolean {
  const shorter = Math.min(one.length, other.length)
  let start = 0
  while (start < shorter && one[start] === other[start]) start++
  let end = 0
  while (end < shorter - start && one.at(-1 - end) === other.at(-1 - end)) end++
  const [left, right] = [one, other].map(text => text.slice(start, text.length - end)) as [string, string]
  const swapped = left.length === 2 && left === [...right].toReversed().join('')
  return swapped || (/^\D?$/.test(left) && /^\D?$/.test(right))
}
