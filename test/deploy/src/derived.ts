import { z } from 'zod'
import { textOf } from './files.ts'
import { PROCESSES, SETTINGS } from './settings.ts'

/** Settings that the chart chooses. */
const CHOSEN = [
  'PORT',
  'HOST',
  'INTERNAL_PORT',
  'METRICS_PORT',
  ...PROCESSES.map(name => `${name.toUpperCase()}_URL`),
]
/** Settings that are the same in all processes. */
const SAME = ['BASE_PATH', 'PUBLIC_URL']
/** Secrets that every process, or every service, gets. */
const GIVEN = [
  'PRINCIPAL_KEY',
  'MESSAGING_URL',
  'ENCRYPTION_KEY',
  'EVENT_STORE_URL',
  'READ_MODEL_URL',
  'GANTRY_ADMIN_PASSWORD',
]

/** A setting as JSON Schema, with the metadata of its zod schema. */
interface Property {
  description?: string
  default?: unknown
  enum?: string[]
  pattern?: string
  /** The default as the manual shows it, if it is not a fixed value. */
  shown?: string
  /** Whether the chart takes it from a Secret only. */
  secret?: boolean
}

type Properties = Readonly<Record<string, Property>>

const byProcess = Object.fromEntries(PROCESSES.map(name => [name, propertiesOf(name)]))

function propertiesOf(name: string): { properties: Properties; required: readonly string[] } {
  const { properties, required } = z.toJSONSchema(SETTINGS[name] as z.ZodObject, {
    io: 'input',
    unrepresentable: 'any',
  })
  return { properties: properties as Properties, required: required ?? [] }
}

const namesOf = (process: string) => Object.keys(byProcess[process]?.properties ?? {})
const propertyOf = (process: string, name: string) => byProcess[process]?.properties[name] as Property

/** The settings of all processes, of all services, and of each process alone. */
function groups(): { title: string; process: string; names: string[] }[] {
  const services = PROCESSES.filter(name => name !== 'gateway')
  const ofServices = namesOf('catalog').filter(name => services.every(other => namesOf(other).includes(name)))
  const ofAll = ofServices.filter(name => namesOf('gateway').includes(name) && name !== 'ENCRYPTION_KEY')
  const own = (process: string) =>
    namesOf(process).filter(
      name =>
        ![...ofAll, 'ENCRYPTION_KEY'].includes(name) && (process === 'gateway' || !ofServices.includes(name)),
    )
  return [
    { title: 'All processes', process: 'catalog', names: ofAll },
    {
      title: 'The four services',
      process: 'catalog',
      names: ofServices.filter(name => !ofAll.includes(name)),
    },
    ...PROCESSES.map(process => ({ title: process, process, names: own(process) })),
  ].filter(({ names }) => names.length > 0)
}

function defaultOf(process: string, name: string): string {
  const { shown, default: value } = propertyOf(process, name)
  if (shown) return shown
  if (byProcess[process]?.required.includes(name)) return 'required'
  return value === undefined || Object.keys(value as object).length === 0 ? 'none' : `${value}`
}

/** The tables of the manual. */
const tables = () =>
  groups()
    .map(({ title, process, names }) =>
      [
        `| ${title} | Default | |`,
        '|---|---|---|',
        ...names.map(
          name => `| \`${name}\` | ${defaultOf(process, name)} | ${propertyOf(process, name).description} |`,
        ),
      ].join('\n'),
    )
    .join('\n\n')

/** The schema of a value of the chart. YAML may contain a number or a boolean without quotes. */
function valueSchema({ enum: values, pattern, default: initial }: Property): object {
  if (values) return { enum: values }
  if (initial === 'false') return { type: ['string', 'boolean'] }
  if (!pattern) return { type: 'string' }
  return { type: new RegExp(pattern).test('1') ? ['string', 'number'] : 'string', pattern }
}

/** The names of the settings of a process in the chart: those among `settings`, and those among `secretSettings`. */
function chartSettings(process: string): { settings: string[]; secrets: string[] } {
  const names = namesOf(process).filter(name => ![...CHOSEN, ...SAME, ...GIVEN].includes(name))
  const isSecret = (name: string) => propertyOf(process, name).secret === true
  return {
    settings: names.filter(name => !isSecret(name)).toSorted(),
    secrets: names.filter(isSecret).toSorted(),
  }
}

function commonSettings(): string[] {
  const [first = [], ...others] = PROCESSES.map(name => chartSettings(name).settings)
  return [...first.filter(name => others.every(names => names.includes(name))), ...SAME].toSorted()
}

function schemaOfValues(text: string): string {
  const schema = JSON.parse(text)
  const valuesOf = (process: string, names: readonly string[]) =>
    Object.fromEntries(names.map(name => [name, valueSchema(propertyOf(process, name))]))
  schema.properties.settings.properties = valuesOf('gateway', commonSettings())
  for (const process of PROCESSES) {
    const { settings, secrets } = chartSettings(process)
    const { properties } = schema.properties[process]
    properties.settings.properties = valuesOf(process, settings)
    properties.secretSettings.items.enum = secrets
  }
  return `${JSON.stringify(schema, null, 2)}\n`
}

/** Lines of a comment with at most 120 characters. */
function comment(words: string): string {
  const lines = ['#']
  for (const word of words.split(' ')) {
    if (`${lines.at(-1)} ${word}`.length > 120) lines.push('#  ')
    lines.push(`${lines.pop()} ${word}`)
  }
  return lines.join('\n')
}

const namesInValues = () => {
  const common = commonSettings()
  const own = PROCESSES.map(name => {
    const names = chartSettings(name).settings.filter(setting => !common.includes(setting))
    return comment(`${name}: ${names.length > 0 ? names.join(', ') : 'none'}`)
  })
  return [comment(`all processes: ${common.join(', ')}`), ...own].join('\n')
}

/** Replaces the text between the line that contains `begin` and the line that contains `end`. */
function between(text: string, begin: string, end: string, content: string): string {
  const lines = text.split('\n')
  const first = lines.findIndex(line => line.includes(begin))
  const last = lines.findIndex((line, number) => number > first && line.includes(end))
  if (first < 0 || last < 0) throw new Error(`there is no "${begin}" before "${end}"`)
  return [...lines.slice(0, first + 1), content, ...lines.slice(last)].join('\n')
}

/** The files that list settings, as they follow from the zod schemas. The rest of each file stays as it is. */
export function derivedFiles(): { path: string; text: string }[] {
  const [manual, values] = ['docs/operations.md', 'deploy/helm/gantry/values.yaml']
  const schema = 'deploy/helm/gantry/values.schema.json'
  return [
    {
      path: manual,
      text: between(textOf(manual), '<!-- settings', '<!-- end of settings', `\n${tables()}\n`),
    },
    { path: schema, text: schemaOfValues(textOf(schema)) },
    { path: values, text: between(textOf(values), '# Settings', '# Settings end', namesInValues()) },
  ]
}
