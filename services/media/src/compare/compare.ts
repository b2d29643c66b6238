import type { DocumentDiff, DocumentKind } from '@gantry/contracts'
import { invalid } from '../check/checked.ts'
import { decode, requireUtf8 } from '../check/text.ts'
import { readTree } from '../check/tree.ts'
import { Changes } from './changes.ts'
import { compareOpenApi } from './openapi.ts'
import { compareText } from './text.ts'

/** A document, and the kind that a check has found. */
export interface Compared {
  bytes: Uint8Array
  kind: DocumentKind
}

/** Compares two documents by the rules of their kind. @throws DocumentInvalid if one of them cannot be read */
export function compareDocuments(before: Compared, after: Compared): DocumentDiff {
  const changes = new Changes()
  try {
    compareInto(changes, before, after)
  } catch (error) {
    if (error instanceof RangeError && /call stack/.test(error.message))
      throw invalid('the document is nested too deeply')
    throw error
  }
  return changes.diff()
}

function compareInto(changes: Changes, before: Compared, after: Compared) {
  if (before.kind !== after.kind)
    return changes.add('UNCLEAR', '', `the kind changed from ${before.kind} to ${after.kind}`)
  switch (after.kind) {
    case 'openapi':
      return compareOpenApi(treeOf(before), treeOf(after), changes)
    default:
      return compareText(before.bytes, after.bytes, changes)
  }
}

function textOf({ bytes }: Compared): string {
  const decoded = decode(bytes)
  if (!decoded) throw invalid('the document is not text')
  return requireUtf8(decoded)
}

const treeOf = (document: Compared) => readTree(textOf(document)).value
