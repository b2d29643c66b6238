import specs from '@asyncapi/specs'
import { Ajv, type Options } from 'ajv'
import formats from 'ajv-formats'
import { describe, expect, test } from 'vitest'
import { PUBLIC_EVENTS } from '../events/public-events.ts'
import { asyncApiDocument } from './asyncapi.ts'

interface Message {
  name: string
  payload: object
  headers?: object
  examples: { payload: unknown }[]
}
interface Channel {
  address: string | null
  messages: Record<string, { $ref: string }>
}
interface Document {
  servers: Record<string, { host: string; protocol: string; pathname?: string }>
  channels: Record<string, Channel>
  operations: Record<string, { action: string; channel: { $ref: string } }>
  components: { messages: Record<string, Message>; schemas: Record<string, object> }
}

const documentOf = (publicUrl?: string) =>
  asyncApiDocument({ publicUrl, basePath: '/manage', version: '1.2.3' }) as unknown as Document
const document = documentOf()
const messagesOf = ({ messages }: Channel) => Object.keys(messages)

const validator = (options: Options = {}) => {
  const ajv = new Ajv({ strict: false, validateSchema: false, ...options })
  formats.default(ajv)
  return ajv
}

/** The parts of a document that a reference can be in. */
function* referencesIn(node: unknown): Generator<string> {
  if (typeof node !== 'object' || node === null) return
  if ('$ref' in node && typeof node.$ref === 'string') yield node.$ref
  for (const child of Object.values(node)) yield* referencesIn(child)
}

describe('The AsyncAPI document', () => {
  test('conforms to the schema of AsyncAPI 3.0', () => {
    // The schema brings the draft 7 that it needs.
    const ajv = validator({ meta: false })
    const validate = ajv.compile(specs.schemas['3.0.0'] as object)
    for (const checked of [document, documentOf('https://gantry.example.com')])
      expect(validate(checked), ajv.errorsText(validate.errors)).toBe(true)
  })

  test('contains everything that it refers to', () => {
    const missing = [...referencesIn(document)].filter(
      reference =>
        reference
          .slice(2)
          .split('/')
          .reduce<unknown>((node, part) => (node as Record<string, unknown>)?.[part], document) === undefined,
    )
    expect(missing).toEqual([])
  })

  test('has a valid example of every message', () => {
    const ajv = validator()
    ajv.addSchema(document, 'events')
    for (const [name, { examples }] of Object.entries(document.components.messages)) {
      const validate = ajv.compile({ $ref: `events#/components/messages/${name}/payload` })
      expect(examples.length, name).toBeGreaterThan(0)
      for (const example of examples)
        expect(validate(example.payload), `${name} ${ajv.errorsText(validate.errors)}`).toBe(true)
    }
  })

  test('has every event type in the feed, on the bus, and as CloudEvents', () => {
    const { feed, bus, webhook } = document.channels
    const published = Object.keys(PUBLIC_EVENTS).filter(type => type !== 'TEST')
    expect(messagesOf(feed as Channel)).toEqual([
      ...published.map(type => `${type}.feed`),
      ...published.map(type => `${type}.cloudevent`),
    ])
    expect(messagesOf(bus as Channel)).toEqual(published.map(type => `${type}.bus`))
    expect(messagesOf(webhook as Channel)).toContain('TEST.cloudevent')
    expect(bus?.address).toBe('events.{service}.{type}')
    expect(document.operations.deliverEvent).toMatchObject({ action: 'send' })
  })
})
