import { subjects } from '@gantry/contracts'
import type { EventStore, Worker } from '@gantry/event-sourcing'
import type { Bus } from '@gantry/messaging'
import type { Dependencies } from '@gantry/service-runtime'
import type { UserKeys } from '@gantry/stores'
import { sealedEvents } from './sealed-events.ts'
import { type UserCiphers, userCiphers } from './user-ciphers.ts'

export interface IdentityDependencies extends Dependencies {
  userKeys: UserKeys
}

export interface PersonalData {
  ciphers: UserCiphers
  /** The event store, whose users have their personal fields in clear text here and encrypted in the log. */
  eventStore: EventStore
  workers: readonly (() => Worker)[]
}

export function personalData(dependencies: IdentityDependencies): PersonalData {
  const ciphers = userCiphers({ ...dependencies, log: dependencies.process.log })
  return {
    ciphers,
    eventStore: sealedEvents(dependencies.eventStore, ciphers),
    workers: [() => forgettingKeys(dependencies.bus, ciphers)],
  }
}

/** Removes the key of a user from memory when the user has changed: another process may have erased them. */
function forgettingKeys(bus: Bus, ciphers: UserCiphers): Worker {
  const stop = bus.listen(subjects.principalChanged, broadcast => {
    const { userId } = broadcast as { userId: string }
    ciphers.forget(userId)
  })
  return { stop: async () => stop() }
}
