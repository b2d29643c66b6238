import { CANCELLED, CONNREFUSED, Resolver, TIMEOUT } from 'node:dns/promises'
import { readFile } from 'node:fs/promises'
import { isIP } from 'node:net'

export interface Address {
  address: string
  family: number
}

/** Resolves a host name to its addresses. */
export type Resolve = (hostname: string) => Promise<Address[]>

interface HostResolverOptions {
  /** Time after which a look-up fails, in milliseconds. */
  timeoutMs: number
  /** Address and port of each name server. Default: those of resolv.conf. */
  servers?: readonly string[]
  hostsFile?: string
  configFile?: string
}

const LOOPBACK: Address[] = [
  { address: '127.0.0.1', family: 4 },
  { address: '::1', family: 6 },
]
/** Error codes that say that no name server has answered. */
const UNANSWERED = new Set<unknown>([CANCELLED, CONNREFUSED, TIMEOUT])
/** Error codes of a working DNS resolver for a name without addresses. */
const NO_SUCH_NAME = new Set<unknown>(['ENOTFOUND', 'ENODATA', 'EBADNAME'])

export const isNoSuchName = (error: unknown): boolean => NO_SUCH_NAME.has(codeOf(error))
const codeOf = (error: unknown) => (error as NodeJS.ErrnoException).code

/**
 * Resolves names as getaddrinfo(3) does with `hosts: files dns`: by /etc/hosts, else by DNS with the search domains of
 * resolv.conf(5). Node would run getaddrinfo in two threads for all look-ups of the process, so a few names whose servers
 * do not answer would delay those of other webhooks.
 * The resolver rejects with the error codes of node:dns.
 */
export function hostResolver(options: HostResolverOptions): Resolve {
  const { timeoutMs, servers, hostsFile = '/etc/hosts', configFile = '/etc/resolv.conf' } = options
  return async hostname => {
    const name = hostname.toLowerCase().replace(/\.$/, '')
    const known = addressesIn(await linesOf(hostsFile), name)
    if (known.length > 0) return known
    // RFC 6761 §6.3.
    if (/(^|\.)localhost$/.test(name)) return LOOPBACK
    const names = hostname.endsWith('.') ? [name] : candidates(await linesOf(configFile), name)
    // Another one for each look-up: a resolver changes timeouts and order of its servers after queries without an answer.
    const resolver = new Resolver({ timeout: Math.ceil(timeoutMs / 4), tries: 3 })
    if (servers) resolver.setServers(servers)
    const limit = setTimeout(() => resolver.cancel(), timeoutMs)
    try {
      return await firstOf(resolver, names)
    } finally {
      clearTimeout(limit)
    }
  }
}

/** The fields of the lines of a file without comments; none if it cannot be read. */
async function linesOf(file: string): Promise<string[][]> {
  const text = await readFile(file, 'utf8').catch(() => '')
  return text.split('\n').map(line =>
    line
      .replace(/[#;].*/, '')
      .trim()
      .split(/\s+/),
  )
}

/** The addresses of a name in lines of hosts(5). */
const addressesIn = (lines: string[][], name: string): Address[] =>
  lines
    .filter(([address = '', ...names]) => isIP(address) && names.some(each => each.toLowerCase() === name))
    .map(([address = '']) => ({ address, family: isIP(address) }))

/** The names to query in their order, by `search`, `domain` and `ndots` in lines of resolv.conf(5). */
function candidates(lines: string[][], name: string): string[] {
  let domains: string[] = []
  let ndots = 1
  for (const [keyword, ...values] of lines) {
    if (keyword === 'search' || keyword === 'domain') domains = values
    if (keyword !== 'options') continue
    for (const value of values) ndots = Number(/^ndots:(\d+)$/.exec(value)?.[1] ?? ndots)
  }
  const searched = domains.filter(domain => domain !== '.').map(domain => `${name}.${domain}`)
  return name.split('.').length > ndots ? [name, ...searched] : [...searched, name]
}

/** The addresses of the first name that has any. */
async function firstOf(resolver: Resolver, names: readonly string[]): Promise<Address[]> {
  let failure: unknown
  for (const name of names) {
    try {
      return await query(resolver, name)
    } catch (error) {
      if (UNANSWERED.has(codeOf(error)))
        throw Object.assign(new Error('no name server answered', { cause: error }), { code: TIMEOUT })
      if (failure === undefined || isNoSuchName(failure)) failure = error
    }
  }
  throw failure
}

/** All addresses of a name. Those of one family suffice if the query for the other one fails. */
async function query(resolver: Resolver, name: string): Promise<Address[]> {
  const answers = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)])
  const found = answers.flatMap(answer => (answer.status === 'fulfilled' ? answer.value : []))
  if (found.length > 0) return found.map(address => ({ address, family: isIP(address) }))
  const failures = answers.flatMap(answer => (answer.status === 'rejected' ? [answer.reason] : []))
  throw failures.find(error => !isNoSuchName(error)) ?? failures[0]
}
