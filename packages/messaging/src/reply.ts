import { type Json, RequestFailed } from './bus.ts'

/**
 * The reply to a request, as JSON the format in which it travels between processes. During an upgrade, replicas of two
 * releases exchange replies, so the format does not change.
 */
export type Reply = { ok: Json } | { failed: Failure }

interface Failure {
  code: string
  message: string
  details: Record<string, unknown>
}

/**
 * Calls a responder.
 * @returns its result or its error: a refusal (an error with a code and details) keeps them, any other error becomes
 * `internal-error`
 */
export async function replyOf(respond: () => Promise<Json>): Promise<Reply> {
  try {
    return { ok: await respond() }
  } catch (error) {
    return { failed: failureOf(error) }
  }
}

/** The result in a reply. @throws RequestFailed when the responder threw */
export function resultOf(reply: Reply): Json {
  if ('ok' in reply) return reply.ok
  const { code, message, details } = reply.failed
  throw new RequestFailed(code, message, details)
}

/** Whether parsed JSON of another process is a reply. */
export function isReply(value: unknown): value is Reply {
  if (!isObject(value)) return false
  if ('ok' in value) return true
  const { failed } = value
  return (
    isObject(failed) &&
    typeof failed.code === 'string' &&
    typeof failed.message === 'string' &&
    isObject(failed.details)
  )
}

function failureOf(error: unknown): Failure {
  const message = error instanceof Error ? error.message : String(error)
  return isRefusal(error)
    ? { code: error.code, message, details: error.details }
    : { code: 'internal-error', message, details: {} }
}

const isRefusal = (error: unknown): error is { code: string; details: Record<string, unknown> } =>
  error instanceof Error &&
  'code' in error &&
  typeof error.code === 'string' &&
  'details' in error &&
  isObject(error.details)

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null
