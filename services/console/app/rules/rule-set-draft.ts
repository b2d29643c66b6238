import { asProblem } from '../http/problem.ts'
import type { Schemas } from '../http/schemas.ts'
import { fieldErrors, isProblem } from '../parts/field-errors.ts'

/** What a person types about a rule set. */
export interface RuleSetDraft {
  name: string
  description: string
  enabled: boolean
  kinds: Schemas['RuleSet']['kinds']
  content: string
}

export const KINDS = [
  { value: 'openapi', label: 'OpenAPI' },
  { value: 'asyncapi', label: 'AsyncAPI' },
] as const satisfies readonly { value: Schemas['RuleSet']['kinds'][number]; label: string }[]

export const NEW_RULE_SET: RuleSetDraft = {
  name: '',
  description: '',
  enabled: true,
  kinds: KINDS.map(({ value }) => value),
  content: 'rules:\n  operation-description: warn\n',
}

export const draftOf = ({
  name,
  description,
  enabled,
  kinds,
  content,
}: Schemas['RuleSet']): RuleSetDraft => ({
  name,
  description: description ?? '',
  enabled,
  kinds,
  content,
})

/** The body of a request. */
export const bodyOf = ({ description, ...draft }: RuleSetDraft): Schemas['RuleSetInput'] => ({
  ...draft,
  description: description.trim() || null,
})

export const LABELS: Readonly<Record<keyof RuleSetDraft, string>> = {
  name: 'Name',
  description: 'Description',
  enabled: 'Applied',
  kinds: 'Documents',
  content: 'Rules',
}

/** The fields that show what is wrong, so that nothing else has to. */
export const FIELDS = { labels: LABELS, codes: { 'rule-set-invalid': 'content' } }

const SHOWN = 5

/** What is wrong with the fields, by field; of the rules the faults with their lines. */
export function errorsOf(error: unknown): Readonly<Record<string, string>> {
  const found = fieldErrors(error, FIELDS)
  if (!isProblem(error, 'rule-set-invalid')) return found
  const faults = asProblem(error).members?.errors as readonly Fault[] | undefined
  const lines = faults?.map(({ line, message, pointer }) => {
    const text = faultText(message, pointer)
    return line === null ? text : `Line ${line}: ${text}`
  })
  if (!lines || lines.length === 0) return found
  const more = lines.length > SHOWN ? [`and ${lines.length - SHOWN} more`] : []
  return { ...found, content: [...lines.slice(0, SHOWN), ...more].join('\n') }
}

interface Fault {
  line: number | null
  message: string
  pointer: string
}

/** The engine says of an unknown rule that its name is not expected. */
function faultText(message: string, pointer: string): string {
  const [, name] = /^\/\w*[rR]ules\/([^/]+)$/.exec(pointer) ?? []
  return name && message.includes('is not expected here')
    ? `there is no rule ${name}; see “Add a rule”`
    : message
}

/** The value of a field for people to read. */
export function textOf(value: RuleSetDraft[keyof RuleSetDraft]): string {
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  return Array.isArray(value) ? value.join(', ') : value
}
