/** Scheme, host and port, and what follows. Users and encoded hosts are left out: programs read them differently. */
const ABSOLUTE_FORM = /^https?:\/\/(?:[\w.-]+|\[[\da-f:.]+\])(?::\d{0,5})?((?:[/?#].*)?)$/i

/** The request target without scheme and authority, which a client may send (RFC 9112 §3.2.2). */
export function originForm(target: string): string {
  const rest = ABSOLUTE_FORM.exec(target)?.[1]
  if (rest === undefined) return target
  return rest.startsWith('/') ? rest : `/${rest}`
}

/** What is wrong with a target in origin form that programs read differently; undefined for any other. */
export function ambiguityOf(target: string): string | undefined {
  const [path = ''] = target.split('?')
  if (!path.startsWith('/')) return 'the request target is neither a path nor a URL of http or https'
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  if (/[\x00-\x1f\x7f]/.test(path)) return 'the path has a control character'
  // Some programs take it for a slash.
  if (path.includes('\\')) return 'the path has a backslash'
  // Some programs resolve such segments.
  if (/(^|\/)(\.|%2e){1,2}(\/|$)/i.test(path)) return 'the path has a segment that is . or ..'
  return undefined
}
