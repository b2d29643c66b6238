import { requests } from '@gantry/contracts'
import { documentSettings, mediaService } from '@gantry/media'
import { inlineChecker, inlineLinting } from '@gantry/media/testing'
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

const versionOf = (asked: Parameters<typeof api>[0]) => idNamed(`version ${asked.target} ${asked.name}`)
const documentAt = (asked: Parameters<typeof api>[0] & { variant: number }) => {
  const url = `/apis/${api(asked)}/versions/${versionOf(asked)}/documents/${asked.variant % 2}.yaml`
  return { url, readAt: url }
}

export const media: ServiceUnderTest = {
  name: 'media',
  make: dependencies =>
    mediaService(dependencies, documentSettings.parse({}), {
      checker: inlineChecker,
      linting: inlineLinting,
    }),
  async prepare({ peers }) {
    peers.answer(requests.apiExists, async () => ({ exists: true }))
    peers.answer(requests.findVersion, async ({ version }) => ({ id: version }))
    peers.answer(requests.versionsBefore, async () => ({ ids: [] }))
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
    putDocument: asked => ({
      method: 'PUT',
      ...documentAt(asked),
      payload: Buffer.from(
        `openapi: 3.0.0\ninfo: {title: T, version: '1'}\npaths: {${Array.from({ length: asked.variant }, (_, n) => `/${n}: {get: {responses: {}}}`)}}\n`,
      ),
    }),
    deleteDocument: asked => ({ method: 'DELETE', ...documentAt(asked) }),
    versionDeleted: asked =>
      asked.variant > 0
        ? undefined
        : foreignFact('catalog', 'API_VERSION_DELETED', {
            subject: api(asked),
            revision: 8,
            data: { id: versionOf(asked) },
          }),
    apiDeleted: asked =>
      asked.variant > 0
        ? undefined
        : foreignFact('catalog', 'API_DELETED', { subject: api(asked), revision: 9 }),
  },
}
