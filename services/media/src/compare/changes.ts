import type { DocumentChange, DocumentDiff } from '@gantry/contracts'

/** A change without its lines. */
export type Change = Pick<DocumentChange, 'pointer' | 'level' | 'message'>
/** What is told of a change about the documents, which are known elsewhere. */
export type Comparison = Omit<DocumentDiff, 'from'>

/** Maximum number of changes of a diff. @gantry/contracts would take 20 MB of each thread. */
const MAX_CHANGES = 1_000

const LEVELS = ['BREAKING', 'UNCLEAR', 'COMPATIBLE'] as const
export type Level = DocumentChange['level']

/**
 * Who reads and who writes the values of a schema. Clients write requests and read responses; of a schema by itself it is not
 * known.
 */
export type Side = 'request' | 'response' | 'either'

/** What a change does to the set of valid values: fewer, more, or others. */
export type Effect = 'narrowed' | 'widened' | 'replaced'

const LEVEL_OF: Record<Side, Record<Effect, Level>> = {
  request: { narrowed: 'BREAKING', widened: 'COMPATIBLE', replaced: 'BREAKING' },
  response: { narrowed: 'COMPATIBLE', widened: 'BREAKING', replaced: 'BREAKING' },
  either: { narrowed: 'UNCLEAR', widened: 'UNCLEAR', replaced: 'BREAKING' },
}

/** Collects the changes of a document. A change that several operations share is kept once. */
export class Changes {
  readonly #kept = new Map<Level, Map<string, Change>>(LEVELS.map(level => [level, new Map()]))
  #isCut = false

  /** Whether further changes would not be shown. */
  get isFull(): boolean {
    return this.#isCut && this.#kept.get('BREAKING')?.size === MAX_CHANGES
  }

  add(level: Level, pointer: string, message: string): void {
    const kept = this.#kept.get(level) as Map<string, Change>
    const key = `${pointer} ${message}`
    if (kept.has(key)) return
    if (kept.size < MAX_CHANGES) kept.set(key, { pointer, level, message })
    else this.#isCut = true
  }

  /** Adds a change of the valid values of a schema. */
  addEffect(side: Side, effect: Effect, pointer: string, message: string): void {
    const where = side === 'either' ? '' : ` in ${side}s`
    this.add(LEVEL_OF[side][effect], pointer, `${message}${where}`)
  }

  /** The changes, those that break first. */
  diff(): Omit<Comparison, 'changes'> & { changes: Change[] } {
    const all = LEVELS.flatMap(level => [...(this.#kept.get(level)?.values() ?? [])])
    const has = (level: Level) => (this.#kept.get(level)?.size ?? 0) > 0
    return {
      breaking: has('BREAKING') ? true : has('UNCLEAR') ? null : false,
      changes: all.slice(0, MAX_CHANGES),
      truncated: this.#isCut || all.length > MAX_CHANGES,
    }
  }
}

/** What differs between two maps. @yields key, and its values before and after */
export function* pairsOf<Value>(
  before: ReadonlyMap<string, Value>,
  after: ReadonlyMap<string, Value>,
): Generator<[key: string, before: Value | undefined, after: Value | undefined]> {
  for (const [key, value] of before) yield [key, value, after.get(key)]
  for (const [key, value] of after) if (!before.has(key)) yield [key, undefined, value]
}
