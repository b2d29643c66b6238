import { publishEvent } from '@gantry/contracts'
import type { AddRoute } from '@gantry/service-runtime'
import type { Intake } from './intake.ts'

export function platformEventRoutes(route: AddRoute, receive: Intake): void {
  route(publishEvent, async ({ body, metadata }) => {
    const { source, type } = body
    const { id, receivedAt, duplicate } = await receive(body, metadata)
    return { status: 202, body: { id, source, type, receivedAt, duplicate } }
  })
}
