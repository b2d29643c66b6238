import { join } from 'node:path'
import type { ImageRecord } from '@gantry/contracts'
import { storyMetadata as metadata, story, testFrozenStreams } from '@gantry/event-sourcing/testing'
import { describe, expect, test } from 'vitest'
import { type ImageCommand, imageDecider } from './image.decide.ts'
import { projectImage } from './image.projection.ts'
import type { ImageEvent } from './image.ts'

testFrozenStreams({
  folder: join(import.meta.dirname, '../frozen'),
  category: 'image',
  decider: imageDecider,
  project: projectImage,
})

const api = '5b1f1c9e-6d0f-4c58-9a43-9d6b8c2a7e10'
const logo: ImageRecord = {
  contentType: 'image/png',
  size: 68,
  width: 1,
  height: 1,
  sha256: 'a1'.repeat(32),
}
const photo: ImageRecord = {
  contentType: 'image/jpeg',
  size: 900,
  width: 30,
  height: 20,
  sha256: 'b2'.repeat(32),
}

const uploaded = (record: ImageRecord): ImageEvent => ({ type: 'ImageUploaded', data: { api, ...record } })
const deleted: ImageEvent = { type: 'ImageDeleted', data: {} }
const discarded: ImageEvent = { type: 'ImageDiscarded', data: {} }
const upload = (record: ImageRecord): ImageCommand => ({ type: 'UploadImage', metadata, api, record })
const remove: ImageCommand = { type: 'DeleteImage', metadata }
const discard: ImageCommand = { type: 'DiscardImage', metadata }

const { given } = story(imageDecider)

describe('an upload', () => {
  test('gives the API an image', () => given().when(upload(logo)).then(uploaded(logo)))
  test('replaces the previous image', () => given(uploaded(logo)).when(upload(photo)).then(uploaded(photo)))
  test('of the same bytes changes nothing', () => given(uploaded(logo)).when(upload(logo)).then())
  test('of an earlier image restores it', () =>
    given(uploaded(logo), uploaded(photo)).when(upload(logo)).then(uploaded(logo)))
  test('of the same bytes after a deletion gives the API an image again', () =>
    given(uploaded(logo), deleted).when(upload(logo)).then(uploaded(logo)))
  test('is refused once the API is deleted', () =>
    given(uploaded(logo), discarded).when(upload(photo)).thenRefused('api-not-found'))
  test('is refused once the API is deleted, even if it had no image', () =>
    given(discarded).when(upload(logo)).thenRefused('api-not-found'))
})

describe('a deletion', () => {
  test('removes the image', () => given(uploaded(logo)).when(remove).then(deleted))
  test('needs an image', () => given().when(remove).thenRefused('image-not-found'))
  test('is refused the second time', () =>
    given(uploaded(logo), deleted).when(remove).thenRefused('image-not-found'))
  test('is refused once the API is deleted', () => given(discarded).when(remove).thenRefused('api-not-found'))
})

describe('the deletion of the API', () => {
  test('removes the image', () => given(uploaded(logo)).when(discard).then(discarded))
  test('is recorded even without an image', () => given().when(discard).then(discarded))
  test('is recorded once', () => given(uploaded(logo), discarded).when(discard).then())
})

describe('the public change', () => {
  const changeOf = (...events: ImageEvent[]) => {
    const last = events.at(-1)
    if (!last) throw new Error('no event')
    const before = given(...events.slice(0, -1)).state
    return imageDecider.describe?.(
      before,
      last,
      imageDecider.evolve(before, last, events.length - 1, metadata.actor),
    )
  }
  test('is absent for an image that is removed with its API', () => {
    expect(changeOf(uploaded(logo), discarded)).toBeNull()
    expect(changeOf(discarded)).toBeNull()
  })
})
