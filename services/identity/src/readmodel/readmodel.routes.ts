import {
  cancelRebuild as cancelOperation,
  listReadModels,
  Refusal,
  rebuildReadModel,
} from '@gantry/contracts'
import {
  aggregate,
  cancelRebuild,
  pendingRebuild,
  readModelStates,
  requestRebuild,
} from '@gantry/event-sourcing'
import type { AddRoute, Instrumented } from '@gantry/service-runtime'
import { rebuildRequestsDecider } from './readmodel.ts'

/** The read models of all services, which share one store. Projectors find the requests there. */
export function readModelRoutes(route: AddRoute, dependencies: Instrumented): void {
  const { readModels, eventStore } = dependencies
  const requests = aggregate({
    ...dependencies,
    category: 'readmodel',
    decider: rebuildRequestsDecider,
  })
  const states = readModelStates({ readModels, eventStore })
  const existing = async (name: string) => {
    const [found] = await states([name])
    if (!found) throw new Refusal('read-model-not-found')
    return found
  }

  route(listReadModels, async () => ({ status: 200, body: await states() }))

  route(rebuildReadModel, async ({ params: { name }, metadata, newId }) => {
    await existing(name)
    const rebuild = (await pendingRebuild(name, readModels)) ?? newId()
    await requests.execute(name, { type: 'RequestRebuild', metadata, name, rebuild })
    await requestRebuild(name, readModels, rebuild)
    return { status: 202, body: await existing(name) }
  })

  route(cancelOperation, async ({ params: { name }, metadata }) => {
    await existing(name)
    const rebuild = await pendingRebuild(name, readModels)
    if (rebuild === undefined) throw new Refusal('rebuild-not-running')
    await requests.execute(name, { type: 'CancelRebuild', metadata, name, rebuild })
    await cancelRebuild(name, readModels, rebuild)
    return { status: 202, body: await existing(name) }
  })
}
