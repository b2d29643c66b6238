import type { Problem } from './problem.ts'

/** A response that matches the contract. With `as` and `refused` a story states which response it expects. */
export interface Answer {
  status: number
  headers: Headers
  bytes: Buffer
  text: string
  /** The parsed body of a JSON response. */
  json: unknown
  /** The body of a response with this status. Any other status fails the story and prints the response. */
  as: <Body>(status: number) => Body
  is: (...statuses: number[]) => Answer
  /** The problem of a refusal with this status, and with this code if one is given. */
  refused: (status: number, code?: string) => Problem
  etag: string
}

export const answerOf = (request: string, status: number, headers: Headers, bytes: Buffer): Answer => {
  const text = bytes.toString('utf8')
  const json: unknown =
    /[/+]json/.test(headers.get('content-type') ?? '') && text !== '' ? JSON.parse(text) : undefined
  const is = (...statuses: number[]) => {
    if (!statuses.includes(status)) {
      throw new Error(
        `${request} answered ${status} instead of ${statuses.join(' or ')}: ${text.slice(0, 2000)}`,
      )
    }
    return answer
  }
  const answer: Answer = {
    status,
    headers,
    bytes,
    text,
    json,
    etag: headers.get('etag') ?? '',
    is,
    as: <Body>(expected: number) => is(expected).json as Body,
    refused: (expected, code) => {
      const problem = is(expected).json as Problem
      if (code !== undefined && problem.code !== code) {
        throw new Error(`${request} was refused as ${problem.code} instead of ${code}: ${text}`)
      }
      return problem
    },
  }
  return answer
}
