import { type Metadata, ServerInterceptingCall, type ServerInterceptor, status } from '@grpc/grpc-js'
import type { Log } from './log.ts'
import { AccessDenied } from './wire.ts'

export interface User {
  name: string
  password: string
  /** Whether the user is a member of $admins. */
  admin?: boolean
}

/** Rights to read, write and delete, as named in access control lists. */
type Right = '$r' | '$w' | '$d'

/** Permissions of the users of a server. Without users everything is permitted. */
export interface Access {
  /** Refuses calls to streams without a known user and password. */
  interceptors: ServerInterceptor[]
  /** @throws AccessDenied when the caller does not have the right on a stream or on $all */
  check(caller: Metadata, log: Log, stream: string, right: Right): Promise<void>
}

/**
 * The access control list in the metadata of a stream decides. Without a list everyone has all rights on a stream, and
 * only $admins on system streams and $all.
 */
export function accessOf(users: readonly User[] | undefined): Access {
  if (!users) return { interceptors: [], check: async () => {} }
  // Basic authentication (RFC 7617), which the client sends with every call.
  const known = new Map(
    users.map(user => [`Basic ${Buffer.from(`${user.name}:${user.password}`).toString('base64')}`, user]),
  )
  const userOf = (metadata: Metadata) => known.get(String(metadata.get('authorization')[0]))

  const letIn: ServerInterceptor = ({ path }, call) =>
    new ServerInterceptingCall(call, {
      start: next =>
        next({
          onReceiveMetadata(metadata, goOn) {
            // The supported features may be read without a user.
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
