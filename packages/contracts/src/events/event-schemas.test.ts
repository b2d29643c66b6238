import { Ajv2020 } from 'ajv/dist/2020.js'
import formats from 'ajv-formats'
import { expect, test } from 'vitest'
import { eventSchema, eventSchemas } from './event-schemas.ts'
import { PUBLIC_EVENTS, type PublicEventType, versionsOf } from './public-events.ts'

const ROOT = 'https://gantry.example.com/manage'
const ajv = new Ajv2020()
formats.default(ajv)

test.each(eventSchemas(ROOT))(
  'the schema of $type in version $version accepts the example of the version, and members of later releases',
  ({ type, version, schema: id }) => {
    const schema = eventSchema(type, version, ROOT)
    expect(schema).toMatchObject({ $id: id, title: type })
    const validate = ajv.compile(schema ?? {})
    const example = versionsOf(type as PublicEventType)[version - 1]?.example as object
    expect(validate(example), ajv.errorsText(validate.errors)).toBe(true)
    expect(validate({ ...example, later: true })).toBe(true)
    expect(validate('text')).toBe(false)
  },
)

test('each type has version 1, and its newest version is named', () => {
  const listed = eventSchemas('')
  for (const type of Object.keys(PUBLIC_EVENTS)) {
    const versions = listed.filter(schema => schema.type === type)
    expect(versions[0]).toMatchObject({ version: 1, schema: `/events/schemas/${type}/1` })
    expect(versions.map(({ newest }) => newest)).toEqual(versions.map((_, at) => at === versions.length - 1))
  }
})

test.each([
  ['UNKNOWN', 1],
  ['toString', 1],
  ['API_CREATED', 2],
])('%s has no version %i', (type, version) => expect(eventSchema(type, version, '')).toBeUndefined())
