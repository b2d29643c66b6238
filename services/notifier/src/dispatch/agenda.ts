import { type Lane, laneKey } from '../delivery/lane.ts'

/** A delivery whose next attempt is due at a time. */
export interface Entry {
  id: string
  lane: Lane
  /** ISO 8601. */
  dueAt: string
}

/** What one process knows of a lane. */
export interface Line {
  readonly lane: Lane
  /** By when they are due. */
  known: Entry[]
  /** Everything due before this is among the known; what comes then is in the store. */
  knownUntil: string
  /** The store is being asked. */
  looking: boolean
}

/**
 * What is due next, as far as this process knows. The store has all of it; this spares asking it. A lane's memory is
 * bounded: beyond the bound it is known up to some time only, and looked up again by then.
 */
export interface Agenda {
  /** A delivery became due, here or elsewhere. */
  note(entry: Entry): void
  /** The store has something in the lane, due at that time at the earliest. */
  found(lane: Lane, dueAt: string): void
  /** Every lane that the store has was told of: one that is not here has nothing pending. */
  surveyed(): void
  /** Takes in what the store has due up to a time; the whole lane when none is given. */
  learn(line: Line, entries: readonly Entry[], until?: string): void
  /** Something changed in the lane that is not known in detail: the store has to be asked. */
  reopen(lane: Lane): void
  /** Forgets a line, unless it was opened anew meanwhile. */
  close(line: Line): void
  /** Lines that have something due, those served longest ago first. */
  due(now: string): Line[]
  /** Takes the first entry of the line when it is due; the line goes to the end of the queue. */
  take(line: Line, now: string): Entry | undefined
  /** The first moment after that time at which something becomes due; undefined when nothing does. */
  next(after: string): string | undefined
  clear(): void
}

/** After every time. */
const ALL_TIME = '~'
/** Before every time. */
const NO_TIME = ''
const KNOWN_PER_LANE = 1_000

export function agenda(bound = KNOWN_PER_LANE): Agenda {
  const lines = new Map<string, Line>()
  let complete = false

  const open = (lane: Lane, knownUntil: string): Line => {
    const line = { lane, known: [], knownUntil, looking: false }
    lines.set(laneKey(lane), line)
    return line
  }

  const firstTime = ({ known, knownUntil }: Line) => {
    const first = known[0]?.dueAt ?? ALL_TIME
    return first < knownUntil ? first : knownUntil
  }

  const trim = (line: Line) => {
    const [beyond] = line.known.splice(bound)
    if (beyond && beyond.dueAt < line.knownUntil) line.knownUntil = beyond.dueAt
  }

  const close = (line: Line) => {
    const key = laneKey(line.lane)
    if (lines.get(key) === line) lines.delete(key)
  }

  return {
    note(entry) {
      const line = lines.get(laneKey(entry.lane)) ?? open(entry.lane, complete ? ALL_TIME : NO_TIME)
      // The answer of a store that is being asked may be from before this entry.
      if (entry.dueAt >= line.knownUntil && !line.looking) return
      const place = line.known.findLastIndex(other => other.dueAt <= entry.dueAt) + 1
      line.known.splice(place, 0, entry)
      if (!line.looking) trim(line)
    },
    found(lane, dueAt) {
      const line = lines.get(laneKey(lane)) ?? open(lane, dueAt)
      if (firstTime(line) > dueAt) line.knownUntil = dueAt
    },
    surveyed() {
      complete = true
    },
    learn(line, entries, until = ALL_TIME) {
      const byId = new Map(line.known.map(entry => [entry.id, entry]))
      for (const entry of entries) {
        const noted = byId.get(entry.id)
        if (!noted || entry.dueAt < noted.dueAt) byId.set(entry.id, entry)
      }
      line.known = [...byId.values()].sort((a, b) => (a.dueAt < b.dueAt ? -1 : a.dueAt > b.dueAt ? 1 : 0))
      line.knownUntil = until
      line.looking = false
      trim(line)
      if (firstTime(line) === ALL_TIME) close(line)
    },
    reopen: lane => void open(lane, NO_TIME),
    close,
    due: now => [...lines.values()].filter(line => firstTime(line) <= now),
    take(line, now) {
      const [first] = line.known
      if (!first || first.dueAt > now) return undefined
      line.known.shift()
      const key = laneKey(line.lane)
      if (lines.get(key) === line) {
        lines.delete(key)
        if (firstTime(line) !== ALL_TIME) lines.set(key, line)
      }
      return first
    },
    next(after) {
      let next: string | undefined
      for (const line of lines.values()) {
        const first = firstTime(line)
        if (first > after && first !== ALL_TIME && (next === undefined || first < next)) next = first
      }
      return next
    },
    clear() {
      lines.clear()
      complete = false
    },
  }
}
