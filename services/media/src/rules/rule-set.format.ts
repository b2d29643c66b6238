import { DocumentInvalid, invalid, isObject } from '../check/checked.ts'
import { escaped } from '../check/pointer.ts'
import { readTree, type Tree } from '../check/tree.ts'

const BUILT_IN = ['minimal', 'recommended', 'recommended-strict', 'spec']
const GROUPS = ['oas2Rules', 'oas3_0Rules', 'oas3_1Rules', 'oas3_2Rules', 'async2Rules', 'async3Rules']
const MEMBERS = ['extends', 'rules', ...GROUPS]
const SEVERITIES = ['error', 'warn', 'off']
/** Members of rules whose values are regular expressions. */
const PATTERNS = new Set(['pattern', 'notPattern', 'matchParentKeys', 'ref'])

interface Fault {
  pointer: string
  message: string
}

export interface RuleSetContent {
  tree: Tree
  config: Record<string, unknown>
}

/**
 * Reads the content of a rule set. It must not have code, and must not name files or URLs. The engine checks the names
 * and the options of the rules.
 * @throws DocumentInvalid with the places of the faults
 */
export function readRuleSet(content: string): RuleSetContent {
  const tree = readTree(content)
  if (!isObject(tree.value)) throw invalid('a rule set is an object', { line: 1, column: 1 }, '')
  const faults = [...faultsOf(tree.value)]
  if (faults.length > 0) throw faultsIn(tree, faults)
  return { tree, config: tree.value }
}

/** The refusal of a rule set, with the lines and columns of the faults. */
export function faultsIn(tree: Tree, faults: readonly Fault[]): DocumentInvalid {
  const places = tree.locate(faults.map(({ pointer }) => pointer))
  return new DocumentInvalid(
    faults.map(({ pointer, message }) => ({
      ...(places.get(pointer) ?? { line: null, column: null }),
      pointer,
      message,
    })),
  )
}

function* faultsOf(root: Record<string, unknown>): Generator<Fault> {
  for (const [member, value] of Object.entries(root)) {
    const pointer = `/${escaped(member)}`
    if (!MEMBERS.includes(member))
      yield { pointer, message: `${member} is not allowed: a rule set has only ${MEMBERS.join(', ')}` }
    else if (member === 'extends') yield* faultsOfExtends(value)
    else if (!isObject(value)) yield { pointer, message: `${member} must be an object with rules` }
    else for (const [name, rule] of Object.entries(value)) yield* faultsOfRule(pointer, name, rule)
  }
}

function* faultsOfExtends(value: unknown): Generator<Fault> {
  if (!Array.isArray(value)) {
    yield { pointer: '/extends', message: `extends must be a list of ${BUILT_IN.join(', ')}` }
    return
  }
  for (const [index, name] of value.entries())
    if (!BUILT_IN.includes(name))
      yield {
        pointer: `/extends/${index}`,
        message: `extends may name only built-in sets (${BUILT_IN.join(', ')}), no files, URLs or packages`,
      }
}

function* faultsOfRule(parent: string, name: string, rule: unknown): Generator<Fault> {
  const pointer = `${parent}/${escaped(name)}`
  const severity = isObject(rule) ? rule.severity : rule
  if (!(severity === undefined && isObject(rule)) && !SEVERITIES.includes(String(severity)))
    yield { pointer, message: `the severity of a rule must be ${SEVERITIES.join(', ')}` }
  if (name.includes('/') && !name.startsWith('rule/'))
    yield { pointer, message: 'rules of plugins are not allowed; rules of your own are named rule/…' }
  yield* faultsWithin(rule, pointer)
}

/** References, functions of plugins, and wrong regular expressions. */
function* faultsWithin(value: unknown, pointer: string): Generator<Fault> {
  if (typeof value !== 'object' || value === null) return
  for (const [key, part] of Object.entries(value)) {
    const at = `${pointer}/${escaped(key)}`
    if (key === '$ref') yield { pointer: at, message: 'references are not allowed' }
    else if (key === 'assertions' && isObject(part))
      for (const name of Object.keys(part).filter(name => name.includes('/')))
        yield { pointer: `${at}/${escaped(name)}`, message: 'functions of plugins are not allowed' }
    if (PATTERNS.has(key) && typeof part === 'string') yield* faultsOfPattern(part, at)
    yield* faultsWithin(part, at)
  }
}

/** A regular expression is written as such, or as /expression/flags. */
function* faultsOfPattern(pattern: string, pointer: string): Generator<Fault> {
  const [, source = pattern, flags = ''] = /^\/(.*)\/(.*)$/s.exec(pattern) ?? []
  try {
    new RegExp(source, flags)
  } catch (error) {
    yield { pointer, message: (error as Error).message }
  }
}
