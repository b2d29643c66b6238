import type { Socket } from 'node:net'
import { AttemptFailure } from './failure.ts'

/** More than the largest headers and the part of a body that is read, with the framing of chunks. */
const ANSWER_LIMIT = 262_144

/**
 * Ends a connection on which more bytes come in answer to one request than any answer needs that is of use. The HTTP
 * parser itself takes interim answers and extensions of chunks without end, and tells of none of them.
 * @param socket decrypted, of a client that writes a request when the answer to the one before is complete
 */
export function boundAnswers(socket: Socket): void {
  const { read, write } = socket
  let received = 0
  socket.write = (...args: unknown[]) => {
    received = 0
    return Reflect.apply(write, socket, args)
  }
  socket.read = size => {
    const chunk = read.call(socket, size)
    received += chunk?.length ?? 0
    if (received <= ANSWER_LIMIT) return chunk
    socket.destroy(new AttemptFailure('bad-answer', `the answer is longer than ${ANSWER_LIMIT} bytes`))
    return null
  }
}
