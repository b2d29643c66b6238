import { asProblem } from '../http/problem.ts'

/** What is wrong with the fields of a form, by field. The error of a list is that of its first wrong item. */
export function fieldErrors(error: unknown): Readonly<Record<string, string>> {
  if (!error) return {}
  const found: Record<string, string> = {}
  for (const { field, message } of asProblem(error).errors ?? [])
    found[field.split(/[./]/)[0] ?? ''] ??= message
  return found
}
