import type { DocumentKind } from '@gantry/contracts'
import { invalid } from '../check/checked.ts'
import { isZip, protobufRoot, protobufZipRoots } from '../check/protobuf.ts'
import { decode, requireUtf8 } from '../check/text.ts'
import { locate, readTree } from '../check/tree.ts'
import { compareAsyncApi } from './asyncapi.ts'
import { Changes, type Comparison } from './changes.ts'
import { compareGraphQl } from './graphql.ts'
import { compareJsonSchemas } from './json-schema.ts'
import { compareOpenApi } from './openapi.ts'
import { compareProtobuf } from './protobuf.ts'
import { compareText } from './text.ts'

/** A document, and the kind that a check has found. */
export interface Compared {
  bytes: Uint8Array
  kind: DocumentKind
}

/** Compares two documents by the rules of their kind. @throws DocumentInvalid if one of them cannot be read */
export async function compareDocuments(before: Compared, after: Compared): Promise<Comparison> {
  const changes = new Changes()
  try {
    if (before.kind === after.kind) await compareInto(changes, before, after)
    else changes.add('UNCLEAR', '', `the kind changed from ${before.kind} to ${after.kind}`)
  } catch (error) {
    if (error instanceof RangeError && /call stack/.test(error.message))
      throw invalid('the document is nested too deeply')
    throw error
  }
  const diff = changes.diff()
  const pointers = diff.changes.map(({ pointer }) => pointer)
  const [fromLineOf, lineOf] = [linesIn(before, pointers), linesIn(after, pointers)]
  return {
    ...diff,
    changes: diff.changes.map(change => ({
      ...change,
      line: lineOf(change.pointer),
      fromLine: fromLineOf(change.pointer),
    })),
  }
}

const TREES: ReadonlySet<DocumentKind> = new Set(['openapi', 'asyncapi', 'json-schema'])

/** The lines of JSON Pointers in a document, or of the nearest value around each; null for other places. */
function linesIn(document: Compared, pointers: readonly string[]): (pointer: string) => number | null {
  if (pointers.length === 0 || !TREES.has(document.kind)) return () => null
  const places = locate(textOf(document), pointers)
  return pointer => places.get(pointer)?.line ?? null
}

function compareInto(changes: Changes, before: Compared, after: Compared) {
  switch (after.kind) {
    case 'openapi':
      return compareOpenApi(treeOf(before), treeOf(after), changes)
    case 'asyncapi':
      return compareAsyncApi(treeOf(before), treeOf(after), changes)
    case 'json-schema':
      return compareJsonSchemas(treeOf(before), treeOf(after), changes)
    case 'graphql':
      return compareGraphQl(textOf(before), textOf(after), changes)
    case 'protobuf':
      return compareProtobuf(rootsOf(before), rootsOf(after), changes)
    default:
      return compareText(before.bytes, after.bytes, changes)
  }
}

function textOf({ bytes }: Compared): string {
  const decoded = decode(bytes)
  if (!decoded) throw invalid('the document is not text')
  return requireUtf8(decoded).replace(/^\ufeff/, '')
}

/** What the check has accepted needs no second search for duplicate keys. */
function treeOf(document: Compared): unknown {
  const text = textOf(document)
  try {
    if (text.startsWith('{')) return JSON.parse(text)
  } catch {
    // YAML in flow style, or what `readTree` explains.
  }
  return readTree(text).value
}

const rootsOf = (document: Compared) =>
  isZip(document.bytes) ? protobufZipRoots(document.bytes) : [protobufRoot(textOf(document))]
