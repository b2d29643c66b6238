import { documentIn, projecting } from '@gantry/event-sourcing/testing'
import { test } from 'vitest'
import { imageDecider } from './image.decide.ts'
import { images, projectImage } from './image.projection.ts'
import type { ImageEvent } from './image.ts'

const API = '11111111-1111-4111-8111-111111111111'
const { given } = projecting(imageDecider, projectImage, API)
const image = (sha256: string) =>
  ({ contentType: 'image/png', size: 70, width: 2, height: 1, sha256 }) as const
const uploaded = (sha256: string): ImageEvent => ({
  type: 'ImageUploaded',
  data: { api: API, ...image(sha256) },
})

test('the document of an image describes the last upload, under the id of the API', () => {
  given(uploaded('a1')).then(documentIn(images, { id: API, ...image('a1') }))
  given(uploaded('a1'), uploaded('b2')).then(documentIn(images, { id: API, ...image('b2') }))
})

test('a deleted image, and an image whose API was deleted, have no document', () => {
  given(uploaded('a1'), { type: 'ImageDeleted', data: {} }).then()
  given(uploaded('a1'), { type: 'ImageDiscarded', data: {} }).then()
})
