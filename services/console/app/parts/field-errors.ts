import { asProblem } from '../http/problem.ts'

/**
 * What is wrong with the fields of a form, by field. The error of a list is that of its first wrong item.
 * @param error of the failed request; null without one
 * @param fieldsOfCodes fields of problems that concern one field but do not name it, e.g. `{ 'api-name-taken': 'name' }`
 */
export function fieldErrors(
  error: unknown,
  fieldsOfCodes: Readonly<Record<string, string>> = {},
): Readonly<Record<string, string>> {
  if (!error) return {}
  const { code, title, errors = [] } = asProblem(error)
  const found: Record<string, string> = {}
  for (const { field, message } of errors) found[field.split(/[./]/)[0] ?? ''] ??= message
  const field = fieldsOfCodes[code]
  return field === undefined ? found : { ...found, [field]: title }
}

/** Whether a request failed with a problem of this code. */
export const isProblem = (error: unknown, code: string): boolean =>
  error !== null && error !== undefined && asProblem(error).code === code
