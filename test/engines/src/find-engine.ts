/** What a service can be asked to run on, by the setting that names it. */
export type EngineKind = 'event-store' | 'read-models' | 'messaging'

/** A running engine for tests and evaluation. */
export interface Engine {
  kind: EngineKind
  /** What it is, with its version where that is known; says so when it stands in for the real one. */
  name: string
  /** What goes into the setting of its kind, e.g. EVENT_STORE_URL. */
  url: string
  /** Where it came from, in the order of preference. */
  origin: 'environment' | 'docker' | 'path' | 'package' | 'stand-in'
  /** Stops what was started for this, and removes what it wrote; leaves an engine of the environment alone. */
  stop(): Promise<void>
}

/** There is none, and why. */
export interface NotFound {
  kind: EngineKind
  /** One line: what was looked for, and how to get it. */
  reason: string
}

export type FindEngine = () => Promise<Engine | NotFound>

export const isFound = (found: Engine | NotFound): found is Engine => 'url' in found

/** One line for the output of a test or command. */
export const describeEngine = (found: Engine | NotFound): string =>
  isFound(found)
    ? `${found.kind}: ${found.name} (${found.origin}) at ${withoutPassword(found.url)}`
    : `${found.kind}: none. ${found.reason}`

const withoutPassword = (url: string) => url.replace(/\/\/[^/@]*@/, '//***@')
