import type { Bus } from '@gantry/messaging'
import type { Connection } from './connection.ts'
import { toBusError } from './errors.ts'

/** Broadcasts are plain NATS messages, and no stream stores them. */
export function broadcasts(connection: Connection): Pick<Bus, 'broadcast' | 'listen'> {
  return {
    async broadcast(subject, data) {
      const session = await connection.session()
      try {
        session.nc.publish(subject, JSON.stringify(data))
      } catch (error) {
        throw toBusError(session, error)
      }
    },
    listen(subject, handler) {
      let listening = true
      const stop = connection.subscribe(subject, {
        callback(error, msg) {
          if (!listening) return
          try {
            if (error) throw error
            handler(msg.json())
          } catch (error) {
            process.emitWarning(`a listener on ${subject} failed: ${error}`)
          }
        },
      })
      return () => {
        listening = false
        stop()
      }
    },
  }
}
