import * as apis from './apis.ts'
import * as events from './events.ts'
import * as identity from './identity.ts'
import * as images from './images.ts'
import type { Operation } from './operation.ts'
import * as versions from './versions.ts'
import * as webhooks from './webhooks.ts'

/** Every operation of the interface, in the order of the documentation. */
export const OPERATIONS: readonly Operation[] = [apis, images, versions, identity, webhooks, events].flatMap(
  part =>
    Object.values(part).filter(
      (value): value is Operation => typeof value === 'object' && 'method' in value && 'responses' in value,
    ),
)
