import { type Metadata, ServerInterceptingCall, type ServerInterceptor, status } from '@grpc/grpc-js'
import type { Log } from './log.ts'
import { AccessDenied } from './wire.ts'

export interface User {
  name: string
  password: string
  /** Member of $admins. */
  admin?: boolean
}

/** To read, to write and to delete, as an access control list calls them. */
export type Right = '$r' | '$w' | '$d'

/** What the users of a server may do; without users anything goes. */
export interface Access {
  /** Refuses calls to streams without a user and password that are known. */
  interceptors: ServerInterceptor[]
  /** @throws AccessDenied when the caller has not that right on a stream, or on $all */
  check(caller: Metadata, log: Log, stream: string, right: Right): Promise<void>
}

/**
 * The list in the metadata of a stream decides. Where there is none, anybody may do anything with a stream, and
 * $admins alone with those of the system and with $all.
 */
export function accessOf(users: readonly User[] | undefined): Access {
  if (!users) return { interceptors: [], check: async () => {} }
  // RFC 7617, as the client sends it with every call.
  const known = new Map(
    users.map(user => [`Basic ${Buffer.from(`${user.name}:${user.password}`).toString('base64')}`, user]),
  )
  const userOf = (metadata: Metadata) => known.get(String(metadata.get('authorization')[0]))

  const letIn: ServerInterceptor = ({ path }, call) =>
    new ServerInterceptingCall(call, {
      start: next =>
        next({
          onReceiveMetadata(metadata, goOn) {
            // What the server can do, all may ask.
            if (!path.includes('.streams.') || userOf(metadata)) goOn(metadata)
            else call.sendStatus({ code: status.UNAUTHENTICATED, details: 'Unauthenticated' })
          },
        }),
    })

  const check: Access['check'] = async (caller, log, stream, right) => {
    const user = userOf(caller)
    if (user?.admin) return
    const listed = (await listOf(log, stream))[right] ?? (stream.startsWith('$') ? '$admins' : '$all')
    const allowed = [listed].flat()
    if (!allowed.includes('$all') && !allowed.includes(user?.name ?? '')) throw new AccessDenied()
  }
  return { interceptors: [letIn], check }
}

async function listOf(log: Log, stream: string): Promise<Partial<Record<Right, string | string[]>>> {
  const settings = (await log.readStream(`$$${stream}`))?.at(-1)
  return settings ? (JSON.parse(settings.data.toString()).$acl ?? {}) : {}
}
