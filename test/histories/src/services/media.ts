import { requests } from '@gantry/contracts'
import { mediaService } from '@gantry/media'
import type { ServiceUnderTest } from '../replica.ts'
import { foreignFact, idNamed } from './foreign-fact.ts'

const api = ({ target, name }: { target: number; name: number }) => idNamed(`api ${target} ${name}`)

/** A form with an image that depends on the variant. */
function form(variant: number) {
  const boundary = 'a-boundary'
  const size = variant + 1
  const parts = [
    `--${boundary}`,
    'content-disposition: form-data; name="file"; filename="logo.svg"',
    'content-type: image/svg+xml',
    '',
    `<svg xmlns="http://www.w3.org/2000/svg" width="${size}" height="${size}"/>`,
    `--${boundary}--`,
    '',
  ]
  return {
    payload: Buffer.from(parts.join('\r\n')),
    headers: { 'content-type': `multipart/form-data; boundary=${boundary}` },
  }
}

const upload: ServiceUnderTest['requests'][string] = asked => {
  const url = `/apis/${api(asked)}/image`
  return { method: 'PUT', url, readAt: url, ...form(asked.variant) }
}

export const media: ServiceUnderTest = {
  name: 'media',
  make: dependencies => mediaService(dependencies),
  async prepare({ peers }) {
    peers.answer(requests.apiExists, async () => ({ exists: true }))
    peers.answer(requests.react('catalog'), async () => null)
  },
  first: ['upload'],
  often: ['upload'],
  requests: {
    upload,
    delete: asked => {
      const url = `/apis/${api(asked)}/image`
      return { method: 'DELETE', url, readAt: url }
    },
    apiDeleted: asked =>
      asked.variant > 0
        ? undefined
        : foreignFact('catalog', 'API_DELETED', { subject: api(asked), revision: 9 }),
  },
}
