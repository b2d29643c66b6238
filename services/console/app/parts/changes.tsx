import { Group, Table, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import type { Schemas } from '../http/schemas.ts'
import classes from './changes.module.css'
import { OwnerName } from './owner-name.tsx'
import { KINDS } from './score-badge.tsx'
import { statusText } from './statuses.tsx'

type Change = Schemas['PatchOperation']

/** Fields that change with everything else, or never. */
const UNREMARKABLE = new Set(['/id', '/api', '/createdAt', '/updatedAt'])

/** The operations of a JSON Patch that a person wants to see: with a difference, and without the technical fields. */
export const remarkable = (changes: readonly Change[]): Change[] =>
  changes.filter(
    ({ op, path, value, before }) =>
      !UNREMARKABLE.has(path) &&
      !(op === 'add' && isNothing(value)) &&
      !(op === 'remove' && isNothing(before)),
  )

const isNothing = (value: unknown) =>
  value === null || value === undefined || value === false || (Array.isArray(value) && value.length === 0)

/** Names of fields as a form has them. */
export type Labels = Readonly<Record<string, string>>

/** Name of the field of a JSON Pointer: that of the form, otherwise e.g. "Deployment status" for `/deploymentStatus`. */
export function fieldName(path: string, labels: Labels = {}): string {
  const words = path
    .slice(1)
    .replaceAll('/', ' ')
    .replace(/^has([A-Z])/, '$1')
    .replace(/[A-Z]/g, letter => ` ${letter.toLowerCase()}`)
    .trim()
  return labels[path.slice(1)] ?? words.charAt(0).toUpperCase() + words.slice(1)
}

/** The differences between two states of a record, one field per row. */
export function Changes({ changes, labels }: { changes: readonly Change[]; labels?: Labels | undefined }) {
  return (
    <Table withRowBorders={false} verticalSpacing={2} layout="fixed">
      <Table.Tbody>
        {changes.map(({ path, before, value }) => (
          <Table.Tr key={path} style={{ verticalAlign: 'top' }}>
            <Table.Th scope="row" fw={500} w={{ base: 140, sm: 180 }}>
              {fieldName(path, labels)}
            </Table.Th>
            <Table.Td>
              {path === '/owner' ? (
                <Owners before={before} value={value} />
              ) : path === '/documents' ? (
                <Difference before={documentsIn(before)} value={documentsIn(value)} />
              ) : (
                <Difference before={inWords(path, before)} value={inWords(path, value)} />
              )}
            </Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  )
}

/** The documents of a version in words, e.g. `petstore.yaml (OpenAPI, primary, 19 operations, 6 schemas)`. */
const documentsIn = (documents: unknown): string[] =>
  Array.isArray(documents) ? documents.map(documentText) : []

type AttachedDocument = Omit<NonNullable<Schemas['Api']['documents']>[number], 'version'>

function documentText({ name, kind, primary, counts }: AttachedDocument): string {
  const count = (number: number, one: string) =>
    number === 0 ? [] : [`${number.toLocaleString('en')} ${one}${number === 1 ? '' : 's'}`]
  const { operations, schemas } = counts
  const parts = [...count(operations, 'operation'), ...count(schemas, 'schema')]
  return `${name} (${[KINDS[kind], ...(primary ? ['primary'] : []), ...parts].join(', ')})`
}

/** The names of the owners before and after a change. */
function Owners({ before, value }: { before?: unknown; value?: unknown }) {
  return (
    <Group gap={6}>
      {typeof before === 'string' && (
        <Removed>
          <OwnerName id={before} />
        </Removed>
      )}
      {typeof value === 'string' ? (
        <Added>
          <OwnerName id={value} />
        </Added>
      ) : (
        <em>no value</em>
      )}
    </Group>
  )
}

/** The value before and after a change. Of lists only the items that were removed and added. */
function Difference({ before, value }: { before: unknown; value: unknown }) {
  const [was, is] = [itemsOf(before), itemsOf(value)]
  if (was && is) {
    const removed = was.filter(item => !is.includes(item))
    const added = is.filter(item => !was.includes(item))
    if (removed.length + added.length > 0)
      return (
        <Group gap={6}>
          {removed.map(item => (
            <Removed key={String(item)}>{valueText(item)}</Removed>
          ))}
          {added.map(item => (
            <Added key={String(item)}>{valueText(item)}</Added>
          ))}
        </Group>
      )
  }
  return (
    <Group gap={6}>
      {!isAbsent(before) && <Removed>{valueText(before)}</Removed>}
      {isAbsent(value) ? <em>no value</em> : <Added>{valueText(value)}</Added>}
    </Group>
  )
}

/** The items of a list. An absent one has none. */
const itemsOf = (value: unknown): unknown[] | undefined =>
  Array.isArray(value) ? value : isAbsent(value) ? [] : undefined

/** The value of a field, of a status in words. */
export const inWords = (path: string, value: unknown) =>
  typeof value === 'string' && path.toLowerCase().endsWith('status') ? statusText(value) : value

const isAbsent = (value: unknown) => value === null || value === undefined

/** A value of a record as text. */
export function valueText(value: unknown): string {
  if (isAbsent(value)) return ''
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  if (Array.isArray(value)) return value.map(valueText).join(', ')
  if (typeof value !== 'object') return String(value)
  return Object.entries(value as object)
    .filter(([, member]) => !isNothing(member))
    .map(([name, member]) => `${fieldName(`/${name}`)}: ${valueText(member)}`)
    .join(', ')
}

const Removed = ({ children }: { children: ReactNode }) => (
  <Text component="del" inherit className={classes.removed}>
    {children}
  </Text>
)

const Added = ({ children }: { children: ReactNode }) => (
  <Text component="ins" inherit className={classes.added}>
    {children}
  </Text>
)
