import { appendFileSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Members of request and response bodies that contain secrets. */
const MEMBERS = new Set(['password', 'token', 'secret'])
const HEADERS = ['authorization', 'idempotency-key', 'webhook-signature']
/** Minimum length of a secret, in characters. Shorter values may occur in logs by chance. */
const SHORTEST = 8

const inBody = (body: unknown): string[] => {
  if (typeof body !== 'object' || body === null) return []
  return Object.entries(body).flatMap(([name, value]) =>
    MEMBERS.has(name) && typeof value === 'string' ? [value] : inBody(value),
  )
}
const withoutScheme = (header: string) => header.replace(/^(bearer +|v1,)/i, '')

/** Records every secret of a request or response, one per line, in a file that all workers append to. */
export const secretsIn = (file: string) => {
  const noted = new Set<string>()
  return (headers: Headers, body: unknown) => {
    const values = HEADERS.flatMap(name => headers.get(name)?.split(' v1,') ?? []).map(withoutScheme)
    for (const value of [...values, ...inBody(body)].map(text => text.trim())) {
      if (value.length < SHORTEST || value.includes('\n') || noted.has(value)) continue
      noted.add(value)
      appendFileSync(file, `${value}\n`)
    }
  }
}

export const readSecrets = (file: string) =>
  [...new Set(readFileSync(file, 'utf8').split('\n'))].filter(Boolean)

/** The logs of the processes, by file. */
export const readLogs = (folder: string) =>
  readdirSync(folder).map(name => ({ name, text: readFileSync(join(folder, name), 'utf8') }))

/** Patterns that no log may contain: the formats of secrets, and members that would contain one. */
export const SECRET_FORMS = [
  /\bpat_[0-9A-Za-z]{8}/,
  /\bwhsec_[\w+/=]/,
  /\beyJ[\w-]{8,}\.eyJ/,
  /\bbearer +[\w.~+/-]{8}/i,
  /\bv1,[\w+/]{20}/,
  /\$argon2id\$/,
  /PRIVATE KEY/,
  /"(password|passwordHash|authorization|cookie|secret|sealedPrivateKey)":"(?!…")/,
]
