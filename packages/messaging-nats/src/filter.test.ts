import { describe, expect, it } from 'vitest'
import { filtersFor } from './filter.ts'

const stored = ['events.>', 'platform.events', 'deployments.reported']
const old = (...subjects: string[]) => filtersFor(subjects, { stored, several: false })
const recent = (...subjects: string[]) => filtersFor(subjects, { stored, several: true })

describe('filters of a consumer', () => {
  it('are the subject when there is one', () => {
    for (const filters of [old, recent]) {
      expect(filters('events.catalog.API_CREATED')).toEqual(['events.catalog.API_CREATED'])
      expect(filters('events.*.API_CREATED')).toEqual(['events.*.API_CREATED'])
      expect(filters('platform.events', 'platform.events')).toEqual(['platform.events'])
    }
  })

  it('leave out subjects that another one covers', () => {
    for (const filters of [old, recent]) {
      expect(filters('events.catalog.*', 'events.>', 'events.catalog.>')).toEqual(['events.>'])
      expect(filters('events.catalog.API_CREATED', 'events.*.API_CREATED')).toEqual(['events.*.API_CREATED'])
    }
  })

  it('are the subjects when the server accepts several', () => {
    expect(recent('events.>', 'platform.events')).toEqual(['events.>', 'platform.events'])
    expect(recent('events.a.x', 'events.a.y', 'events.a.x.z')).toEqual([
      'events.a.x',
      'events.a.y',
      'events.a.x.z',
    ])
  })

  it('cover the subjects when the server accepts one, or when they overlap', () => {
    expect(old('events.a.x', 'events.a.y.z')).toEqual(['events.a.>'])
    expect(old('events.a', 'events.a.y.z')).toEqual(['events.>'])
    expect(old('events.*.x', 'events.*.y')).toEqual(['events.>'])
    expect(recent('events.a.>', 'events.*.x')).toEqual(['events.>'])
    expect(recent('events.a.*', 'events.*.x')).toEqual(['events.>'])
  })

  it('are empty when they would reach beyond the stream', () => {
    expect(old('events.>', 'platform.events')).toEqual([])
    expect(old('>')).toEqual([])
    expect(recent('*.events', 'events.>')).toEqual([])
    expect(recent('deployments.>')).toEqual([])
  })
})
