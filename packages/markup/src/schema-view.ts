import { type Html, html } from './html.ts'

/** An object whose members may have any type, since documents may break the rules of their kind. */
export type Members = Record<string, unknown>

/** An object; one without members for other values. */
export const objectOf = (value: unknown): Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Members) : {}

/** A text; undefined for other values. */
export const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' || typeof value === 'number' ? String(value) : undefined

/** Schemas within schemas that are shown in one line. */
const DEEPEST = 4

const joined = (parts: readonly Html[], separator: string): Html =>
  html`${parts.map((part, at) => (at === 0 ? part : html`${separator}${part}`))}`

const valueText = (value: unknown) => html`<code>${JSON.stringify(value) ?? ''}</code>`

/** The type of a JSON Schema in a few words, with links to the schemas that it refers to. */
export function schemaType(schema: unknown, depth = 0): Html {
  const {
    $ref,
    allOf,
    anyOf,
    oneOf,
    type,
    format,
    items,
    properties,
    enum: values,
    ...rest
  } = objectOf(schema)
  const types = (value: unknown[], separator: string) =>
    joined(
      value.map(each => schemaType(each, depth + 1)),
      separator,
    )
  if (depth > DEEPEST) return html`…`
  if (typeof $ref === 'string') {
    const name = $ref.slice($ref.lastIndexOf('/') + 1)
    return $ref.startsWith('#/components/schemas/')
      ? html`<a href="#schema-${name}">${name}</a>`
      : html`<code>${$ref}</code>`
  }
  if (Array.isArray(allOf)) return types(allOf, ' with ')
  const choice = anyOf ?? oneOf
  if (Array.isArray(choice)) return types(choice, ' or ')
  if ('const' in rest) return valueText(rest.const)
  if (Array.isArray(values)) return joined(values.map(valueText), ' or ')
  if (items) return html`array of ${schemaType(items, depth + 1)}`
  if (properties) {
    const members = Object.entries(objectOf(properties)).map(
      ([name, member]) => html`<code>${name}</code>: ${schemaType(member, depth + 1)}`,
    )
    return html`{ ${joined(members, ', ')} }`
  }
  return html`${type === undefined ? 'any' : [type].flat().map(String).join(' or ')}${format !== undefined && ` (${format})`}`
}

/** A schema with a table of its members. */
export function schemaView(schema: unknown): Html {
  const { description, properties, required } = objectOf(schema)
  const text = textOf(description)
  const shown = html`${text && html`<p>${text}</p>`}`
  if (!properties) return html`${shown}<p>${schemaType(schema)}</p>`
  const isRequired = (name: string) => Array.isArray(required) && required.includes(name)
  return html`${shown}<table>
<thead><tr><th>Member</th><th>Type</th><th></th></tr></thead>
<tbody>${Object.entries(objectOf(properties)).map(
    ([name, member]) => html`<tr>
<td><code>${name}</code>${isRequired(name) ? '' : html`<br><small>optional</small>`}</td>
<td>${schemaType(member)}</td>
<td>${textOf(objectOf(member).description) ?? ''}</td></tr>`,
  )}</tbody></table>`
}
