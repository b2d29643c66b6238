import { asProblem, RequestFailed } from '../http/problem.ts'

type Texts = Readonly<Record<string, string>>

/** The fields of a form, by the words that the form has for them. */
export interface FormFields {
  labels: Texts
  /** Fields of problems that concern one field but do not name it, e.g. `{ 'api-name-taken': 'name' }`. */
  codes?: Texts
}

const rootOf = (field: string) => field.split(/[./]/)[0] ?? ''

/**
 * What is wrong with the fields of a form, by field, e.g. "Name is required". The error of a list is that of its first wrong
 * item.
 * @param error of the failed request; null without one
 */
export function fieldErrors(error: unknown, { labels = {}, codes = {} }: Partial<FormFields> = {}): Texts {
  if (!error) return {}
  const { code, title, errors = [] } = asProblem(error)
  const found: Record<string, string> = {}
  for (const { field, message } of errors) {
    const label = labels[rootOf(field)]
    found[rootOf(field)] ??= label ? sentenceOf(label, message) : message
  }
  const field = codes[code]
  return field === undefined ? found : { ...found, [field]: title }
}

/** Most messages continue the name of their field; others are sentences. */
function sentenceOf(label: string, message: string): string {
  if (message === 'must not be empty') return `${label} ${REQUIRED}`
  return /^[A-Z]/.test(message) ? `${label}: ${message}` : `${label} ${message}`
}

/** Whether the fields of a form show all that is wrong, so that nothing else has to. */
export function isAtFields(error: unknown, { labels, codes = {} }: FormFields): boolean {
  const { code, errors = [] } = asProblem(error)
  return code in codes || (errors.length > 0 && errors.every(({ field }) => rootOf(field) in labels))
}

const REQUIRED = 'is required'

/** Refuses empty fields as the service would, before a request is sent. @throws RequestFailed */
export const requireFields = <Draft extends object>(
  draft: Draft,
  ...fields: (keyof Draft & string)[]
): void => refuseFields(...emptyFields(draft, ...fields))

/** The errors of those of the fields that are empty. */
export const emptyFields = <Draft extends object>(draft: Draft, ...fields: (keyof Draft & string)[]) =>
  fields
    .filter(field => String(draft[field]).trim() === '')
    .map(field => ({ field, message: Array.isArray(draft[field]) ? 'are required' : REQUIRED }))

/** Refuses fields, unless there are none. @throws RequestFailed */
export function refuseFields(...errors: { field: string; message: string }[]): void {
  if (errors.length > 0)
    throw new RequestFailed({ status: 0, code: 'incomplete', title: 'Fields are wrong', detail: '', errors })
}

/** Whether a request failed with a problem of this code. */
export const isProblem = (error: unknown, code: string): boolean =>
  error !== null && error !== undefined && asProblem(error).code === code
