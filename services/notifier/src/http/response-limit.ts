import type { Socket } from 'node:net'
import { AttemptFailure } from './failure.ts'

/**
 * Maximum number of received bytes per request: more than the largest headers plus the part of a body that is read, with
 * chunk framing.
 */
const RESPONSE_LIMIT = 262_144

/**
 * Closes a connection when the response to one request exceeds the limit. The HTTP parser accepts interim responses and
 * chunk extensions without limit and does not report them.
 * @param socket decrypted; its client writes a request only after the previous response is complete
 */
export function limitResponses(socket: Socket): void {
  const { read, write } = socket
  let received = 0
  socket.write = (...args: unknown[]) => {
    received = 0
    return Reflect.apply(write, socket, args)
  }
  socket.read = size => {
    const chunk = read.call(socket, size)
    received += chunk?.length ?? 0
    if (received <= RESPONSE_LIMIT) return chunk
    socket.destroy(new AttemptFailure('bad-answer', `the response is longer than ${RESPONSE_LIMIT} bytes`))
    return null
  }
}
