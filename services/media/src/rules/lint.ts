import type { BrokenRule, EffectiveRule, Finding } from '@gantry/contracts'
import {
  BaseResolver,
  type Config,
  createConfig,
  lintConfig,
  lintDocument,
  Source,
} from '@redocly/openapi-core'
import { invalid, isObject, MAX_TEXT, textOf } from '../check/checked.ts'
import { DATA } from '../check/references.ts'
import { type Found, located, totalsOf } from '../check/schema.ts'
import { decode } from '../check/text.ts'
import { readTree } from '../check/tree.ts'
import { faultsIn, readRuleSet } from './rule-set.format.ts'

/** What the rules of a set find in a document. */
export interface Linted {
  errors: number
  warnings: number
  broken: Omit<BrokenRule, 'ruleSet'>[]
  /** At most `MAX_RULE_FINDINGS`, errors first: as many of each rule, if there are more. */
  findings: Finding[]
}

/** Findings of a rule set that are kept of a document. */
const MAX_RULE_FINDINGS = 500

/** Reads nothing: a rule about what another file has finds nothing. */
class NoFiles extends BaseResolver {
  override async loadExternalRef(reference: string): Promise<Source> {
    return new Source(reference, '{}')
  }
}

const PLACE = '/document.yaml'

/** The last configuration: documents are linted by the same rules one after another. */
let last: { content: string; config: Config } | undefined

async function configOf(content: string): Promise<Config> {
  if (last?.content !== content)
    last = {
      content,
      config: await createConfig(readRuleSet(content).config, { externalRefResolver: new NoFiles() }),
    }
  return last.config
}

/**
 * Applies a rule set to a document of OpenAPI or AsyncAPI.
 * @param content a rule set that `tryRuleSet` has accepted
 * @throws DocumentInvalid when the document cannot be read
 */
export async function lint(bytes: Uint8Array, content: string): Promise<Linted> {
  const text = decode(bytes)?.text
  if (text === undefined) throw invalid('the document is no text')
  const tree = readTree(text)
  const problems = await problemsIn(tree.value, await configOf(content))
  const errors = problems.filter(({ severity }) => severity === 'ERROR').length
  const findings = located(tree, firstOfEach(problems, MAX_RULE_FINDINGS), MAX_RULE_FINDINGS)
  return { errors, warnings: problems.length - errors, broken: totalsOf(problems), findings }
}

/** At most so many problems, of each rule equally many as far as it has them. */
const firstOfEach = (problems: readonly Found[], most: number): Found[] =>
  [...Map.groupBy(problems, ({ severity, code }) => `${severity} ${code}`).values()]
    .flatMap(alike => alike.map((problem, index) => ({ problem, index })))
    .toSorted((a, b) => a.index - b.index)
    .slice(0, most)
    .map(({ problem }) => problem)

/** Rules of the engine fail for null in the place of an object, which the schema of the kind finds. */
function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls)
  if (!isObject(value)) return value
  const kept = Object.entries(value).filter(([key, part]) => part !== null || DATA.has(key))
  return Object.fromEntries(kept.map(([key, part]) => [key, DATA.has(key) ? part : withoutNulls(part)]))
}

async function problemsIn(parsed: unknown, config: Config): Promise<Found[]> {
  const apply = (parsed: unknown) => {
    const document = { source: new Source(PLACE, ''), parsed }
    return lintDocument({ document, config, externalRefResolver: new NoFiles() })
  }
  const problems = await apply(parsed).catch((error: Error) => {
    if (!(error instanceof TypeError)) throw error
    return apply(withoutNulls(parsed))
  })
  return problems.map(({ severity, ruleId, message, location: [place] }) => ({
    severity: severityOf(severity),
    code: ruleId,
    message: textOf(message) ?? '',
    pointer: pointerOf(place),
  }))
}

/** The JSON Pointer in a place of the engine, which is a fragment such as `#/info`. */
const pointerOf = (place: { pointer?: string | undefined } | undefined): string =>
  place?.pointer?.replace(/^#\/?(?=.)/, '/').replace(/^#\/?$/, '') ?? ''

const SAMPLES = [
  { swagger: '2.0' },
  { openapi: '3.0.0' },
  { openapi: '3.1.0' },
  { openapi: '3.2.0' },
  { asyncapi: '2.6.0' },
  { asyncapi: '3.0.0' },
].map(version => ({
  ...version,
  info: { title: 'Sample', version: '1' },
  paths: {},
  channels: {},
  operations: {},
}))

const FORMATS = ['oas2', 'oas3_0', 'oas3_1', 'oas3_2', 'async2', 'async3'] as const

/** The rules by name, and each of them that is not off. Assertions have a name of their own, and are errors by default. */
function effectiveRules({ rules }: Config): EffectiveRule[] {
  const on = FORMATS.flatMap(format => {
    const { assertions = [], ...others } = rules[format] as Record<string, unknown>
    const own = (assertions as { assertionId: string }[]).map(one => [one.assertionId, one] as const)
    return [...Object.entries(others), ...own].flatMap(([name, setting]) => {
      const severity = isObject(setting) ? (setting.severity ?? 'error') : setting
      return severity === 'off' ? [] : { name, severity: severityOf(severity), format }
    })
  })
  return [...Map.groupBy(on, ({ name, severity }) => `${name} ${severity}`).values()]
    .flatMap(alike =>
      alike.slice(0, 1).map(({ format: _, ...rule }) => ({ ...rule, formats: alike.map(one => one.format) })),
    )
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
}

const severityOf = (severity: unknown): Finding['severity'] => (severity === 'error' ? 'ERROR' : 'WARNING')

/**
 * Checks the names and the options of the rules, which the engine knows.
 * @returns the rules that are not off, by name
 * @throws DocumentInvalid
 */
export async function tryRuleSet(content: string): Promise<EffectiveRule[]> {
  const { tree, config: raw } = readRuleSet(content)
  try {
    const config = await createConfig(structuredClone(raw), { externalRefResolver: new NoFiles() })
    const problems = await lintConfig({ config, externalRefResolver: new NoFiles() })
    const faults = problems.map(({ message, location: [place] }) => ({
      message: message.slice(0, MAX_TEXT),
      pointer: pointerOf(place),
    }))
    if (faults.length > 0) throw faultsIn(tree, faults)
    for (const sample of SAMPLES) await problemsIn(sample, config)
    return effectiveRules(config)
  } catch (error) {
    if (error instanceof Error && error.name === 'DocumentInvalid') throw error
    throw invalid(error instanceof Error ? error.message : String(error), { line: 1, column: 1 })
  }
}
