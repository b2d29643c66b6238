import { createRequire } from 'node:module'
import type { BrokenRule, Finding } from '@gantry/contracts'
import type { AnySchemaObject, ErrorObject, ValidateFunction } from 'ajv'
import { MAX_FINDINGS } from './checked.ts'
import { escaped } from './pointer.ts'
import type { Tree } from './tree.ts'

/** A finding without its place. */
export type Found = Pick<Finding, 'severity' | 'code' | 'message'> & { pointer: string }

/** For schemas that others wrote, which strict mode would refuse. */
export const AJV_OPTIONS = { strict: false, allErrors: true, logger: false } as const

/** Reads a schema from a file of a package. */
export const readSchema: (path: string) => AnySchemaObject = createRequire(import.meta.url)

const validators = new Map<string, ValidateFunction>()

/** The validator of a schema, which is compiled when it is first needed. @param key unique among all schemas */
export function validatorFor(key: string, compile: () => ValidateFunction): ValidateFunction {
  const validate = validators.get(key) ?? compile()
  validators.set(key, validate)
  return validate
}

/** Keywords whose errors repeat those of their parts. */
const COMPOSED = new Set(['oneOf', 'anyOf', 'allOf', 'if', 'not', '$ref'])

const messageOf = ({ message = 'is invalid', params, keyword }: ErrorObject) => {
  if (unknownOf({ keyword, params }) !== undefined) return 'is an unknown member'
  if (keyword === 'enum')
    return `must be one of ${(params.allowedValues as unknown[]).slice(0, 20).join(', ')}`
  if (keyword === 'const') return `must be ${JSON.stringify(params.allowedValue)}`
  return message
}

/** The member that a schema does not know. */
const unknownOf = ({ keyword, params }: Pick<ErrorObject, 'keyword' | 'params'>): string | undefined =>
  keyword === 'additionalProperties' || keyword === 'unevaluatedProperties'
    ? String(Object.values(params)[0])
    : undefined

/** The violations of a schema, without those that follow from others. */
export function violationsOf(validate: ValidateFunction, value: unknown): Found[] {
  if (validate(value)) return []
  const errors = validate.errors ?? []
  const deeper = deepestOf(errors)
  const found = new Map<string, Found>()
  for (const error of errors) {
    const { instancePath, keyword, params } = error
    const unknown = unknownOf(error)
    const pointer = unknown === undefined ? instancePath : `${instancePath}/${escaped(unknown)}`
    const isReference = keyword === 'required' && params.missingProperty === '$ref'
    const isExplained = deeper.has(instancePath) || errors.length > 1
    if ((COMPOSED.has(keyword) && deeper.has(instancePath)) || (isReference && isExplained)) continue
    const message = messageOf(error)
    found.set(`${pointer} ${message}`, { severity: 'ERROR', code: 'schema-violation', message, pointer })
    if (found.size >= MAX_FINDINGS) break
  }
  return [...found.values()]
}

/** The paths at which, or below which, an error says more than that an alternative does not fit. */
function deepestOf(errors: readonly ErrorObject[]): Set<string> {
  const paths = new Set<string>()
  for (const { keyword, instancePath, params } of errors) {
    if (COMPOSED.has(keyword) || (keyword === 'required' && params.missingProperty === '$ref')) continue
    for (let path = instancePath; !paths.has(path); path = path.slice(0, path.lastIndexOf('/'))) {
      paths.add(path)
      if (path === '') break
    }
  }
  return paths
}

/** How often each rule is broken, in the order of the findings. */
export function totalsOf(
  found: readonly Pick<Finding, 'severity' | 'code'>[],
): Omit<BrokenRule, 'ruleSet'>[] {
  const totals = new Map<string, Omit<BrokenRule, 'ruleSet'>>()
  for (const { severity, code } of found) {
    const key = `${severity} ${code}`
    totals.set(key, { severity, code, places: (totals.get(key)?.places ?? 0) + 1 })
  }
  return [...totals.values()]
}

/** Adds the places in a tree. Errors come first, then by line. */
export function located(tree: Tree, found: readonly Found[], most = MAX_FINDINGS): Finding[] {
  const kept = found.toSorted((a, b) => Number(a.severity !== 'ERROR') - Number(b.severity !== 'ERROR'))
  const first = kept.slice(0, most)
  const places = first.length > 0 ? tree.locate(first.map(({ pointer }) => pointer)) : new Map()
  return first
    .map(finding => ({ ...finding, ...(places.get(finding.pointer) ?? { line: null, column: null }) }))
    .toSorted(
      (a, b) =>
        Number(a.severity !== 'ERROR') - Number(b.severity !== 'ERROR') || (a.line ?? 0) - (b.line ?? 0),
    )
}
