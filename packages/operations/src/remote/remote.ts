import { readSettings } from '@gantry/service-kit'
import { z } from 'zod'
import { ConnectionLost, Refused, reasonOf } from './errors.ts'

/** Query parameters; an array repeats the parameter, undefined leaves it out. */
export type Query = Readonly<Record<string, string | readonly string[] | undefined>>

/** The service at BASE_URL, called with GANTRY_TOKEN. */
export interface Remote {
  readonly baseUrl: string
  /**
   * Sends a GET request once.
   * @returns the answer with a status 2xx
   * @throws Refused, ConnectionLost
   */
  get(path: string, query: Query, options: { accept: string; signal: AbortSignal }): Promise<Response>
}

const settings = z.object({
  BASE_URL: z
    .url({ protocol: /^https?$/, error: 'must be the http or https URL of the service' })
    .default('http://localhost:8080'),
  GANTRY_TOKEN: z
    .string({ error: 'must be set to an access token with the scope AUDIT_LOG_READ' })
    .regex(/^[\x21-\x7e]+$/, { error: 'must be an access token' }),
})

/** Longest text of a problem that is read, in characters. */
const PROBLEM_LENGTH = 10_000

/** @throws SettingsRefused */
export function remoteOf(environment: NodeJS.ProcessEnv): Remote {
  const { BASE_URL, GANTRY_TOKEN } = readSettings(settings, environment)
  const baseUrl = BASE_URL.replace(/\/+$/, '')
  return {
    baseUrl,
    async get(path, query, { accept, signal }) {
      const url = new URL(`${baseUrl}${path}`)
      for (const [name, value] of Object.entries(query))
        for (const item of [value ?? []].flat()) url.searchParams.append(name, item)
      const headers = { authorization: `Bearer ${GANTRY_TOKEN}`, accept }
      let answer: Response
      try {
        answer = await fetch(url, { headers, signal, redirect: 'error' })
      } catch (error) {
        throw new ConnectionLost(`cannot reach ${baseUrl}: ${reasonOf(error)}`)
      }
      if (answer.ok) return answer
      throw await refusalIn(answer)
    },
  }
}

const Problem = z.object({ code: z.string(), title: z.string(), detail: z.string() }).partial()

async function refusalIn(answer: Response): Promise<Refused> {
  const { status } = answer
  const text = await answer.text().catch(() => '')
  const { code, title, detail } = Problem.safeParse(jsonIn(text.slice(0, PROBLEM_LENGTH))).data ?? {}
  const seconds = Number(answer.headers.get('retry-after') ?? Number.NaN)
  return new Refused(`${status} ${advice(status)}${detail ?? title ?? answer.statusText}`, {
    status,
    ...(code !== undefined && { code }),
    retryAfterMs: seconds >= 0 ? seconds * 1_000 : undefined,
  })
}

function advice(status: number): string {
  if (status === 401) return 'GANTRY_TOKEN is not accepted, it may have expired or been deleted: '
  if (status === 403) return 'GANTRY_TOKEN may not do this: '
  if (status === 404) return 'BASE_URL leads to no Gantry of this release: '
  return ''
}

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
