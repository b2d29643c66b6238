import { parsedText } from '@gantry/event-sourcing'
import { retryAfterMs } from '@gantry/pacing'
import { readSettings } from '@gantry/service-runtime'
import { z } from 'zod'
import { CommandFailed } from '../command.ts'
import { reasonOf, TemporaryFailure } from '../retries.ts'

/** Query parameters; an array repeats the parameter, undefined leaves it out. */
export type Query = Readonly<Record<string, string | readonly string[] | undefined>>

/** The service at BASE_URL, called with GANTRY_TOKEN. */
export interface Remote {
  readonly baseUrl: string
  /**
   * Sends a GET request once.
   * @returns the answer with a status 2xx
   * @throws CommandFailed; TemporaryFailure after 429, 5xx and without a connection
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

/** Longest text of a problem that is read, in bytes. */
const PROBLEM_BYTES = 10_000

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
        throw new TemporaryFailure(`cannot reach ${baseUrl}: ${reasonOf(error)}`)
      }
      if (answer.ok) return answer
      throw await refusalIn(answer)
    },
  }
}

const Problem = z.object({ title: z.string(), detail: z.string() }).partial()

async function refusalIn(answer: Response): Promise<CommandFailed> {
  const { status, statusText, headers } = answer
  const { title, detail } = Problem.safeParse(parsedText(await beginningOf(answer))).data ?? {}
  const message = `${status} ${advice(status)}${detail ?? title ?? statusText}`
  if (status !== 429 && status < 500) return new CommandFailed(message)
  const retryAfter = headers.get('retry-after') ?? undefined
  return new TemporaryFailure(message, retryAfterMs(status, retryAfter, new Date()))
}

/** The first bytes of the body as text. The rest is not read. */
async function beginningOf(answer: Response): Promise<string> {
  const chunks: Uint8Array[] = []
  let length = 0
  try {
    for await (const chunk of chunksOf(answer)) {
      chunks.push(chunk)
      length += chunk.length
      if (length >= PROBLEM_BYTES) break
    }
  } catch {
    // The status is reported without the text.
  }
  return Buffer.concat(chunks).subarray(0, PROBLEM_BYTES).toString()
}

function advice(status: number): string {
  if (status === 401) return 'GANTRY_TOKEN is not accepted, it may have expired or been deleted: '
  if (status === 403) return 'GANTRY_TOKEN may not do this: '
  if (status === 404) return 'BASE_URL leads to no Gantry of this release: '
  return ''
}

/** The body of an answer as it arrives. @throws TemporaryFailure with the reason of the signal, if that has ended it */
export async function* chunksOf({ body }: Response, signal?: AbortSignal): AsyncGenerator<Uint8Array> {
  try {
    for await (const chunk of body ?? []) yield chunk as Uint8Array
  } catch (error) {
    throw new TemporaryFailure(`the connection was lost: ${reasonOf(signal?.reason ?? error)}`)
  }
}
