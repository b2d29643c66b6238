import { asProblem } from '../http/problem.ts'
import type { Schemas } from '../http/schemas.ts'
import { fieldErrors } from '../parts/field-errors.ts'

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

/** What is wrong with the fields, by field; of the rules the first fault with its line. */
export function errorsOf(error: unknown): Readonly<Record<string, string>> {
  const found = fieldErrors(error)
  const [fault] =
    ((error ? asProblem(error).members?.errors : undefined) as
      | { line?: number | null; message: string }[]
      | undefined) ?? []
  if (!fault || fault.line === undefined) return found
  return { ...found, content: fault.line === null ? fault.message : `Line ${fault.line}: ${fault.message}` }
}

/** The value of a field for people to read. */
export function textOf(value: RuleSetDraft[keyof RuleSetDraft]): string {
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  return Array.isArray(value) ? value.join(', ') : value
}
