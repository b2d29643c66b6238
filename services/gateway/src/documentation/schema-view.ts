import { type Html, html } from '../html.ts'

/** The keywords of JSON Schema that the view shows. */
interface Schema {
  $ref?: string
  type?: string | string[]
  format?: string
  const?: unknown
  enum?: unknown[]
  description?: string
  properties?: Record<string, Schema>
  required?: string[]
  items?: Schema
  allOf?: Schema[]
  anyOf?: Schema[]
}

const joined = (parts: readonly Html[], separator: string): Html =>
  html`${parts.map((part, at) => (at === 0 ? part : html`${separator}${part}`))}`

/** The type of a schema in a few words, with links to the schemas that it refers to. */
export function schemaType(schema: Schema): Html {
  const { $ref, allOf, anyOf, type, format, items, properties } = schema
  if ($ref !== undefined) {
    const name = $ref.slice($ref.lastIndexOf('/') + 1)
    return html`<a href="#schema-${name}">${name}</a>`
  }
  if (allOf) return joined(allOf.map(schemaType), ' with ')
  if (anyOf) return joined(anyOf.map(schemaType), ' or ')
  if (schema.const !== undefined) return html`<code>${JSON.stringify(schema.const)}</code>`
  if (schema.enum) {
    const values = schema.enum.map(value => html`<code>${JSON.stringify(value)}</code>`)
    return joined(values, ' or ')
  }
  if (items) return html`array of ${schemaType(items)}`
  if (properties) {
    const members = Object.entries(properties).map(
      ([name, member]) => html`<code>${name}</code>: ${schemaType(member)}`,
    )
    return html`{ ${joined(members, ', ')} }`
  }
  const types = type === undefined ? 'any' : [type].flat().join(' or ')
  return html`${types}${format && ` (${format})`}`
}

/** A schema with a table of its members. */
export function schemaView(schema: Schema): Html {
  const { description, properties, required = [] } = schema
  const shown = html`${description && html`<p>${description}</p>`}`
  if (!properties) return html`${shown}<p>${schemaType(schema)}</p>`
  return html`${shown}<table>
<thead><tr><th>Member</th><th>Type</th><th></th></tr></thead>
<tbody>${Object.entries(properties).map(
    ([name, member]) => html`<tr>
<td><code>${name}</code>${required.includes(name) ? '' : html`<br><small>optional</small>`}</td>
<td>${schemaType(member)}</td>
<td>${member.description ?? ''}</td></tr>`,
  )}</tbody></table>`
}
