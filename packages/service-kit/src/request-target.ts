/** Scheme, host, port and the rest. Does not match user info and percent-encoded hosts: programs parse them differently. */
const ABSOLUTE_FORM = /^https?:\/\/(?:[\w.-]+|\[[\da-f:.]+\])(?::\d{0,5})?((?:[/?#].*)?)$/i

/** The request target without scheme and authority, if the client sent them (absolute-form, RFC 9112 §3.2.2). */
export function originForm(target: string): string {
  const rest = ABSOLUTE_FORM.exec(target)?.[1]
  if (rest === undefined) return target
  return rest.startsWith('/') ? rest : `/${rest}`
}

/** The reason why programs may parse a target in origin-form differently; undefined when there is none. */
export function ambiguityOf(target: string): string | undefined {
  const [path = ''] = target.split('?')
  if (!path.startsWith('/')) return 'the request target is neither a path nor a URL of http or https'
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the test is for control characters
  if (/[\x00-\x1f\x7f]/.test(path)) return 'the path has a control character'
  // Some programs treat a backslash as a slash.
  if (path.includes('\\')) return 'the path has a backslash'
  // Some programs resolve such segments.
  if (/(^|\/)(\.|%2e){1,2}(\/|$)/i.test(path)) return 'the path has a segment that is . or ..'
  return undefined
}
