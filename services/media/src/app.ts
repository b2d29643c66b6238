import { requests, subjects } from '@gantry/contracts'
import { aggregate, type Executed, Projector, streamName } from '@gantry/event-sourcing'
import {
  type Dependencies,
  instrumented,
  responder,
  router,
  type Service,
  sendDirectly,
  serviceFrom,
} from '@gantry/service-runtime'
import type { BlobStore } from '@gantry/stores'
import { imageBytes } from './image/image.bytes.ts'
import { imageDecider } from './image/image.decide.ts'
import { acceptForms } from './image/image.form.ts'
import { images, projectImage } from './image/image.projection.ts'
import { imageRoutes } from './image/image.routes.ts'
import { startSweeper } from './image/image.sweeper.ts'
import type { ImageEvent, ImageState } from './image/image.ts'
import { publicEvents } from './public-events.ts'
import { reactionsOf, reactsTo } from './reactions.ts'

/** Images of APIs. Their bytes are in the blob store, all other data is in the log. */
export function mediaService(given: Dependencies & { blobs: BlobStore }): Service {
  const dependencies = instrumented(given)
  const { eventStore, readModels, process } = dependencies
  const bytes = imageBytes(given.blobs)
  const projector = new Projector({
    ...dependencies,
    ...process,
    name: 'media.projector',
    collections: [images],
  })
  const image = aggregate({
    ...dependencies,
    category: 'image',
    decider: imageDecider,
    view: { projector, project: projectImage },
  })
  const react = reactionsOf(image, dependencies)

  const apiExists = async (api: string) => (await process.peers.ask(requests.apiExists, { api })).exists

  /** Notifies catalog. Without a change it sends the last event again, since its writer may have died before sending it. */
  const announce = async (api: string, { facts, revision }: Executed<ImageState, ImageEvent>) => {
    const events = facts.length > 0 ? facts : await eventStore.readStream(streamName('image', api), revision)
    for (const message of events.flatMap(publicEvents)) await sendDirectly(process.peers, 'catalog', message)
  }

  return serviceFrom(dependencies, {
    name: 'media',
    projectors: [projector],
    async routes(app, admit) {
      await app.register(async forms => {
        await acceptForms(forms)
        imageRoutes(router(app, admit, dependencies, 'media'), router(forms, admit, dependencies, 'media'), {
          image,
          images: readModels.collection(images),
          bytes,
          apiExists,
          announce,
        })
      })
    },
    publication: { streamPrefixes: ['image-'], publicEvents, subjects: [subjects.events('media', '*')] },
    reactors: [{ consumer: 'media', subjects: reactsTo, react }],
    workers: [() => startSweeper(bytes, dependencies)],
    responders: [
      responder(requests.react('media'), async message => {
        await react(message)
        return null
      }),
    ],
  })
}
