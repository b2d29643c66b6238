import { Ajv2020 } from 'ajv/dist/2020.js'
import formats from 'ajv-formats'

const ajv = new Ajv2020({ strict: false, allErrors: true, logger: false })
formats.default(ajv)

/** @returns a function that lists the differences between a value and a JSON Schema (2020-12); none when it matches */
export const checkedBy = (schema: unknown): ((value: unknown) => string[]) => {
  // Avoids a conflict with an earlier copy of a schema with the same $id.
  ajv.removeSchema(/./)
  const validate = ajv.compile(schema as object)
  return value =>
    validate(value) ? [] : (validate.errors ?? []).map(error => `${error.instancePath} ${error.message}`)
}

/** The differences between a value and a JSON Schema (2020-12); empty when it matches. */
export const faultsAgainst = (schema: unknown, value: unknown): string[] => checkedBy(schema)(value)
