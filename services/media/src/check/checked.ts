import type { AboutApi, DescribedOperation, DocumentError, DocumentKind, Finding } from '@gantry/contracts'

/** An operation in a document, without the place of the document. */
export type Operation = Omit<DescribedOperation, 'api' | 'version' | 'document'>

/** What a document says about an API. */
export interface Content {
  title: string | null
  version: string | null
  operations: Operation[]
  schemas: string[]
}

/** A document that was checked. */
export interface Checked {
  kind: DocumentKind
  mediaType: string
  content: Content
  /** At most `MAX_FINDINGS`. */
  findings: Finding[]
  /** For imports. Absent in what was derived from a stored document. */
  about?: AboutApi
}

/** What a check knows of a document beside its bytes. */
export interface CheckOptions {
  /** Other kinds are refused. */
  kind?: DocumentKind | undefined
  /** The parameter `charset` of the media type that it was sent with. */
  charset?: string | undefined
  /** Refuse wrong syntax of what begins like an object of JSON, though it claims no kind. */
  mustParse?: boolean
}

/** Increase it when the content or the findings of a document change: they are then made again from the stored bytes. */
export const EXTRACTION = 2
export const MAX_FINDINGS = 1_000
/** A document may have more operations and names of schemas than are kept. */
const MAX_KEPT = 20_000
const MAX_ERRORS = 100
export const MAX_TEXT = 1_000
const MAX_SUMMARY = 200

/** The document is not what it claims to be. */
export class DocumentInvalid extends Error {
  readonly errors: readonly DocumentError[]
  constructor(errors: readonly DocumentError[]) {
    super('document-invalid')
    this.name = 'DocumentInvalid'
    this.errors = errors.slice(0, MAX_ERRORS).map(error => ({ ...error, message: clip(error.message) }))
  }
}

/** @param at line and column from 1 */
export const invalid = (
  message: string,
  { line = null, column = null }: { line?: number | null; column?: number | null } = {},
  pointer: string | null = null,
): DocumentInvalid => new DocumentInvalid([{ line, column, pointer, message }])

const clip = (text: string, most = MAX_TEXT) =>
  (text.length > most ? `${text.slice(0, most)}…` : text).toWellFormed()

/** A text of a document, shortened; null for other values, which are findings. */
export const textOf = (value: unknown, most = MAX_TEXT): string | null =>
  typeof value === 'string' && value !== ''
    ? clip(value, most)
    : typeof value === 'number'
      ? String(value)
      : null

/** What an OpenAPI or AsyncAPI document says about its API. */
export function aboutOf(document: Record<string, unknown>): AboutApi {
  const info = objectOf(document.info)
  return {
    name: textOf(document['x-gantry-name'] ?? info['x-gantry-name']),
    provider: textOf(info['x-providerName']),
    service: textOf(info['x-serviceName']),
    description: textOf(info.description),
  }
}

/** The summary of an operation, or else the beginning of its description. */
export const summaryOf = (description: unknown, summary?: unknown): string | null =>
  textOf(summary) ?? textOf(description, MAX_SUMMARY)

/** The strings among some values, shortened. */
export const textsOf = (values: Iterable<unknown>): string[] =>
  [...values].flatMap(value => textOf(value) ?? []).slice(0, MAX_KEPT)

/** An object's members; none for other values. */
export const membersOf = (value: unknown): [string, unknown][] => Object.entries(objectOf(value))

export const objectOf = (value: unknown): Record<string, unknown> => (isObject(value) ? value : {})

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

export const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : [])

interface Said {
  title?: unknown
  version?: unknown
  operations?: Iterable<Operation>
  schemas?: Iterable<unknown>
}

/** The content of a document, limited; without an argument that of a document that says nothing about an API. */
export const contentWith = ({ title, version, operations = [], schemas = [] }: Said = {}): Content => ({
  title: textOf(title),
  version: textOf(version),
  operations: Iterator.from(operations).take(MAX_KEPT).toArray(),
  schemas: textsOf(schemas),
})

export const operationWith = (
  operation: Pick<Operation, 'method' | 'path'> & Partial<Operation>,
): Operation => ({
  operationId: null,
  summary: null,
  tags: [],
  deprecated: false,
  ...operation,
})
