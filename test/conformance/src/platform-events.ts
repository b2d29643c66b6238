import { admin, uuid } from './gantry.ts'

/** A platform event. `data` identifies the story, which tells its deliveries from those of other stories. */
export const platformEvent = (type: string, data: Record<string, unknown>) => ({
  specversion: '1.0',
  id: uuid(),
  source: '/conformance',
  type,
  data,
})

export const publish = (event: object, contentType = 'application/cloudevents+json') =>
  admin.post('/events', undefined, { body: JSON.stringify(event), headers: { 'content-type': contentType } })

/** Publishes a platform event that mentions `about`, which identifies the story. */
export const happen = async (type: string, about: string) =>
  (await publish(platformEvent(type, { about }))).is(202)
