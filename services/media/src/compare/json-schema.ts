import { type Changes, pairsOf } from './changes.ts'
import { child, children, rootOf } from './part.ts'
import { SchemaComparison } from './schemas.ts'

/**
 * Compares JSON Schemas and the definitions in them. Who writes the values and who reads them is not known, so a change that
 * allows more or fewer values is unclear.
 */
export function compareJsonSchemas(before: unknown, after: unknown, changes: Changes): void {
  const schemas = new SchemaComparison(changes)
  schemas.compare([rootOf(before)], [rootOf(after)], 'either')
  for (const member of ['definitions', '$defs']) {
    const of = (root: unknown) => new Map(children(child(rootOf(root), member)))
    for (const [name, one, other] of pairsOf(of(before), of(after)))
      if (one && other) schemas.compare([one], [other], 'either')
      else if (one) changes.add('UNCLEAR', one.pointer, `the definition ${name} was removed`)
      else if (other) changes.add('COMPATIBLE', other.pointer, `the definition ${name} was added`)
  }
}
