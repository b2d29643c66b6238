import { join } from 'node:path'
import { storyMetadata as metadata, story, testFrozenStreams } from '@gantry/event-sourcing/testing'
import { describe, expect, test } from 'vitest'
import { type DocumentCommand, documentDecider } from './document.decide.ts'
import { projectDocuments } from './document.projection.ts'
import { type DocumentContent, type DocumentEvent, documentsOf } from './document.ts'

testFrozenStreams({
  folder: join(import.meta.dirname, '../frozen'),
  category: 'documents',
  decider: documentDecider,
  project: projectDocuments,
})

const api = '5b1f1c9e-6d0f-4c58-9a43-9d6b8c2a7e10'
const version = '2f0a8a57-3c0d-4e42-a8f7-0f3f5a3b9b01'
const content = (name: string, sha256 = 'a1'): DocumentContent => ({
  name,
  kind: 'other',
  mediaType: 'application/octet-stream',
  size: 3,
  sha256,
  title: null,
  version: null,
  counts: { operations: 0, schemas: 0 },
  findings: { errors: 0, warnings: 0 },
})
const uploaded = (name: string, primary: boolean, sha256?: string): DocumentEvent => ({
  type: 'DocumentUploaded',
  data: { api, apiVersion: version, ...content(name, sha256), primary, uploadedAt: metadata.now },
})
const upload = (name: string, more: Partial<DocumentCommand & { sha256: string }> = {}): DocumentCommand => {
  const { sha256, ...rest } = more
  const base = {
    type: 'UploadDocument',
    metadata,
    api,
    version,
    primary: false,
    condition: {},
    limit: 3,
  } as const
  return { ...base, content: content(name, sha256), ...rest } as DocumentCommand
}
const remove = (name: string, condition = {}): DocumentCommand => ({
  type: 'DeleteDocument',
  metadata,
  api,
  version,
  name,
  condition,
})
const deleted = (name: string): DocumentEvent => ({
  type: 'DocumentDeleted',
  data: { api, apiVersion: version, name, deletedAt: metadata.now },
})
const discardVersion: DocumentCommand = { type: 'DiscardVersion', metadata, version }
const discarded = (...names: string[]): DocumentEvent => ({
  type: 'VersionDocumentsDiscarded',
  data: { apiVersion: version, names },
})
const { given } = story(documentDecider)

describe('an upload', () => {
  test('is primary if it is the first', () => given().when(upload('a')).then(uploaded('a', true)))
  test('is not primary beside another one', () =>
    given(uploaded('a', true)).when(upload('b')).then(uploaded('b', false)))
  test('stays primary when it is replaced', () =>
    given(uploaded('a', true))
      .when(upload('a', { sha256: 'b2' }))
      .then(uploaded('a', true, 'b2')))
  test('of the same bytes changes nothing', () => given(uploaded('a', true)).when(upload('a')).then())
  test('of the same bytes can make it primary', () =>
    given(uploaded('a', true), uploaded('b', false))
      .when(upload('b', { primary: true }))
      .then(uploaded('b', true)))
  test('beyond the limit is refused, but a replacement is not', () => {
    const full = given(uploaded('a', true), uploaded('b', false), uploaded('c', false))
    full.when(upload('d')).thenRefused('too-many-documents')
    full.when(upload('c', { sha256: 'b2' })).then(uploaded('c', false, 'b2'))
  })
  test.for([
    ['b', { ifMatch: '*' }],
    ['a', { ifMatch: ['b2'] }],
    ['a', { ifMatch: [] }],
    ['a', { ifAbsent: true }],
  ] as const)('of %s is refused under the condition %o', ([name, condition]) =>
    given(uploaded('a', true))
      .when(upload(name, { condition, sha256: 'c3' }))
      .thenRefused('precondition-failed'),
  )
  test('of the content that the caller has seen is accepted', () =>
    given(uploaded('a', true))
      .when(upload('a', { condition: { ifMatch: ['a1'] }, sha256: 'b2' }))
      .then(uploaded('a', true, 'b2')))
  test('is refused once the version or the API is deleted', () => {
    given(discarded()).when(upload('a')).thenRefused('version-not-found')
    given({ type: 'DocumentsDiscarded', data: {} }).when(upload('a')).thenRefused('api-not-found')
  })
})

describe('a deletion', () => {
  test('makes the oldest other document primary, if it removes the primary one', () => {
    const after = (...events: DocumentEvent[]) =>
      documentsOf(given(...events).state, version).map(({ name, primary }) => [name, primary])
    const three = [uploaded('c', true), uploaded('b', false), uploaded('a', false)]
    expect(after(...three, deleted('c'))).toEqual([
      ['b', true],
      ['a', false],
    ])
    expect(after(...three, uploaded('a', true), deleted('c'))).toEqual([
      ['b', false],
      ['a', true],
    ])
  })
  test('needs the document, with the content that the caller has seen', () => {
    given().when(remove('a')).thenRefused('document-not-found')
    given(uploaded('a', true))
      .when(remove('a', { ifMatch: ['b2'] }))
      .thenRefused('precondition-failed')
    given(uploaded('a', true))
      .when(remove('a', { ifMatch: ['a1'] }))
      .then(deleted('a'))
  })
})

describe('the deletion of the version', () => {
  test('names its documents, and is recorded once', () => {
    given(uploaded('a', true)).when(discardVersion).then(discarded('a'))
    given().when(discardVersion).then(discarded())
    given(discarded('a')).when(discardVersion).then()
    given({ type: 'DocumentsDiscarded', data: {} }).when(discardVersion).then()
  })
})
