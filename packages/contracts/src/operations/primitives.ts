import { z } from 'zod'

const characters = (value: string) => [...value].length
const storable = (value: string) => value.isWellFormed() && !value.includes('\0')

/** Text of `min` to `max` characters, counted in Unicode code points; without NUL and lone surrogates. */
export const text = (max: number, min = 0) =>
  z
    .string()
    .refine(value => characters(value) <= max, { error: `must be at most ${max} characters` })
    .refine(value => characters(value) >= min, {
      error: min === 1 ? 'must not be empty' : `must be at least ${min} characters`,
    })
    .refine(storable, { error: 'must be well-formed text without NUL' })
    .meta({ override: { maxLength: max, ...(min > 0 && { minLength: min }) } })

/** Text of 1 to `max` characters after trimming, without control characters. */
export const label = (max: number) =>
  z
    .string()
    .transform(value => value.trim())
    .refine(value => value.length > 0, { error: 'must not be empty' })
    .refine(value => characters(value) <= max, { error: `must be at most ${max} characters` })
    .refine(value => value.isWellFormed() && !/\p{Cc}/u.test(value), {
      error: 'must have no control characters',
    })
    .meta({ override: { type: 'string', minLength: 1, maxLength: max } })

/** The status of what can be switched off: an API, a user. */
export const ActiveStatus = z.enum(['ACTIVE', 'INACTIVE']).meta({ id: 'ActiveStatus' })

/** A UUID of any version, in lower case. */
export const Uuid = z
  .string()
  .regex(/^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$/, { error: 'must be a UUID' })
  .transform(value => value.toLowerCase())
  .meta({ override: { type: 'string', format: 'uuid', pattern: undefined } })

export const Timestamp = z.iso.datetime({ precision: 3 }).meta({
  description: 'ISO 8601 UTC with milliseconds',
  example: '2026-11-21T09:30:00.000Z',
  override: { pattern: undefined },
})

/** The last time that ISO 8601 writes with a four-digit year. */
const END_OF_TIME = Date.parse('9999-12-31T23:59:59.999Z')

/** Converts a time with any offset to ISO 8601 UTC with milliseconds, which compares with Timestamp as text. */
export const utcTime = (time: string): string =>
  new Date(Math.min(Date.parse(time), END_OF_TIME)).toISOString()

/** A time with any offset; becomes UTC. */
export const Instant = z.iso
  .datetime({ offset: true })
  .transform(utcTime)
  .meta({ override: { type: 'string', format: 'date-time', pattern: undefined } })

/** The query parameter of operations that answer with what existed at a time. */
export const pastTime = Instant.optional().meta({
  description:
    'ISO 8601, not in the future. What existed at this time, also if it was deleted since, as it was then',
})

/** A query parameter with a time as the caller wrote it, with any offset. */
export const writtenTime = (description: string) =>
  z.iso
    .datetime({ offset: true })
    .optional()
    .meta({ description, override: { pattern: undefined } })

/** A member of responses with a secret, see `secretFields` of an operation. */
export const secretWithheld = z.literal(true).optional().meta({
  description:
    'true if the response is repeated for an Idempotency-Key and the caller has another credential than the one that received the secret. The secret is then null',
})

/** A query parameter `true` or `false`. */
export const flag = (description: string) =>
  z
    .enum(['true', 'false'])
    .transform(value => value === 'true')
    .optional()
    .meta({ description, override: { type: 'boolean', enum: undefined } })

/** A whole number as a query parameter. */
export const integer = (min: number, max: number, otherwise: number, description: string) =>
  z
    .string()
    .regex(/^[0-9]{1,9}$/, { error: `must be a whole number from ${min} to ${max}` })
    .transform(Number)
    .refine(value => value >= min && value <= max, { error: `must be from ${min} to ${max}` })
    .default(otherwise)
    .meta({
      description,
      override: { type: 'integer', minimum: min, maximum: max, default: otherwise, pattern: undefined },
    })

const many = (value: unknown) => (Array.isArray(value) ? value : value === undefined ? undefined : [value])

/** A repeated or comma-separated query parameter. */
export const listOf = (max: number, description: string, item: z.ZodType<string, string> = text(100)) =>
  z
    .preprocess(
      value =>
        many(value)?.flatMap(item =>
          typeof item === 'string' ? item.split(',').filter(part => part !== '') : [item],
        ),
      z.array(item).max(max).optional(),
    )
    .meta({
      description,
      param: { style: 'form', explode: true },
      override: { type: 'array', items: { type: 'string', ...(item === Uuid && { format: 'uuid' }) } },
    })

export interface SortBy {
  field: string
  direction: 'asc' | 'desc'
}

const MAX_SORTS = 10

const sortOf = (properties: readonly string[], otherwise: string, ofSearch?: string) =>
  z
    .preprocess(
      many,
      z
        .array(
          z.string().transform((value, context): SortBy => {
            const [field = '', direction = 'asc', ...rest] = value.split(',')
            if (!properties.includes(field) || !['asc', 'desc'].includes(direction) || rest.length > 0) {
              context.addIssue({
                code: 'custom',
                message: `must be property,(asc|desc) with a property of ${properties.join(', ')}`,
              })
              return z.NEVER
            }
            return { field, direction: direction as SortBy['direction'] }
          }),
        )
        .max(MAX_SORTS, { error: `must be given at most ${MAX_SORTS} times` }),
    )
    .prefault(ofSearch === undefined ? otherwise : [])
    .meta({
      description: `property,(asc|desc), repeatable; properties: ${properties.join(', ')}${ofSearch === undefined ? '' : `. Default: ${ofSearch}, else ${otherwise}`}`,
      param: { style: 'form', explode: true },
      override: {
        type: 'array',
        items: { type: 'string', pattern: `^(${properties.join('|')})(,(asc|desc))?$` },
        maxItems: MAX_SORTS,
        ...(ofSearch === undefined && { default: [otherwise] }),
      },
    })

/**
 * The query parameters page, size and sort of lists.
 * @param otherwise default of sort
 * @param ofSearch describes the default for a search; sort is then empty unless it is given
 */
export const paging = (properties: readonly string[], otherwise: string, ofSearch?: string) => ({
  page: integer(1, 999_999_999, 1, 'Page number, from 1'),
  size: integer(1, 100, 10, 'Items on a page'),
  sort: sortOf(properties, otherwise, ofSearch),
})

export const pageOf = <Item extends z.ZodType>(item: Item, id: string) =>
  z
    .object({
      content: z.array(item),
      size: z.int().meta({ description: 'Page size' }),
      number: z.int().meta({ description: 'Page number, from 1' }),
      totalPages: z.int(),
      totalElements: z.int(),
      last: z.boolean().meta({ description: 'True on the last page' }),
    })
    .meta({ id })

/** An optional field of a request. An absent field becomes null. */
export const optional = <Schema extends z.ZodType>(schema: Schema) =>
  schema.nullish().transform(value => value ?? null)

/** Names of members whose values are secrets, in lower case and without `-` and `_`. */
const SECRET =
  /pass(w|phrase|$)|pwd|secret|token|apikey|accesskey|credential|private|authorization|dsn$|connectionstring/
const isSecret = (key: string) => SECRET.test(key.toLowerCase().replace(/[-_]/g, ''))
/** The user information of a URL, and a private key in PEM, also one without its end. */
const SECRET_TEXT =
  /(?<=\/\/)[^/?#\s]*(?=@)|-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(-----END [A-Z ]*PRIVATE KEY-----|$)/gs
const MASK = '***'

/**
 * The data of a public event for readers. In a `CONFIGURATION_CHANGED` event each value whose key names a secret, and each
 * secret in a text, becomes `***`, at any depth. The stored event is not changed.
 */
export function readableData(type: string, data: Record<string, unknown>): Record<string, unknown> {
  if (type !== 'CONFIGURATION_CHANGED') return data
  return JSON.parse(JSON.stringify(data), (key, value: unknown) => {
    if (isSecret(key)) return MASK
    return typeof value === 'string' ? value.replace(SECRET_TEXT, MASK) : value
  })
}

/** Maximum levels of objects and arrays in a free-form value, including the value itself. */
export const MAX_DEPTH = 64
const MAX_MEMBERS = 10_000
/** Several times the 64 KiB that intermediaries of CloudEvents must support; a delivery still fits into one append. */
const MAX_BYTES = 262_144

/**
 * Visits a parsed JSON value level by level without recursion, which would overflow the stack for a deep value.
 * @returns the objects and arrays of each level, from the value itself
 */
function* levels(value: unknown): Generator<object[]> {
  const containers = (parts: unknown[]) => parts.filter(part => typeof part === 'object' && part !== null)
  for (let level = containers([value]); level.length > 0; ) {
    yield level as object[]
    level = containers(level.flatMap(part => Object.values(part as object)))
  }
}

/** Whether a parsed JSON value has more than `maxDepth` levels of objects and arrays, including the value itself. */
export function isDeeperThan(value: unknown, maxDepth: number): boolean {
  let depth = 0
  for (const _ of levels(value)) if (++depth > maxDepth) return true
  return false
}

/** Number of members of objects and elements of arrays, at all levels. */
function membersOf(value: unknown): number {
  let members = 0
  for (const level of levels(value)) for (const container of level) members += Object.keys(container).length
  return members
}

function faultOf(value: unknown): string | undefined {
  if (isDeeperThan(value, MAX_DEPTH)) return `must be at most ${MAX_DEPTH} levels deep`
  if (membersOf(value) > MAX_MEMBERS) return `must have at most ${MAX_MEMBERS} members at all levels`
  const bytes = new TextEncoder().encode(JSON.stringify(value)).byteLength
  return bytes > MAX_BYTES ? `must have at most ${MAX_BYTES} bytes as JSON` : undefined
}

/** A JSON object with any members, within limits that every reader can handle. */
export const FreeForm = z
  .record(z.string(), z.unknown())
  .superRefine((value, context) => {
    const message = faultOf(value)
    if (message) context.addIssue({ code: 'custom', message })
  })
  .meta({
    description: `At most ${MAX_DEPTH} levels deep, ${MAX_MEMBERS} members at all levels, and ${MAX_BYTES} bytes as JSON`,
  })
