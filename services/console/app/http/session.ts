import { useSyncExternalStore } from 'react'
import type { Schemas, Scope } from './schemas.ts'

const KEY = 'gantry.session'

/** Who is signed in, with the token that requests carry. */
export interface Session {
  token: string
  user: Schemas['AuthenticatedUser']
  scopes: readonly Scope[]
  /** `LOGIN` came from a password, which can be asked for again. Others were pasted. */
  credential: Schemas['Session']['credential']
  /** The name of the access token, if the token is one. */
  tokenName?: string | undefined
  /** Milliseconds since 1970 by the clock of this machine. */
  expiresAt: number
}

/** Resolves a waiting request: true after a new token, false if the person has signed out instead. */
type Waiting = (renewed: boolean) => void

/** What the tabs of this origin tell each other. */
type Message = { ask: true } | { answer: Session } | { begun: Session } | { ended: Session['user']['id'] }

/** How long a new tab waits for the session of another one. */
const ASKING_MS = 150

let current = read()
let refused: string | undefined
let waiting: Waiting[] = []
const listeners = new Set<() => void>()
const tabs = new BroadcastChannel(KEY)
const tell = (message: Message) => tabs.postMessage(message)
tabs.onmessage = ({ data }: MessageEvent<Message>) => hear(data)
/** Ends the wait for the session of another tab. Undefined while this tab does not wait. */
let found: (() => void) | undefined
/** Whether an answer begins the session, also a late one of a busy tab: until this tab has had a session. */
let asks = false

/**
 * The session of the tabs of this origin. Each keeps it in its sessionStorage, and a new one asks the others for it, so
 * that closing the last tab ends it. A sign-in and a sign-out reach the other tabs of the same user.
 */
export const session = {
  /** Resolves when `current` is known: at once, or after the other tabs had time to answer. */
  ready: current ? Promise.resolve() : ask(),
  current: (): Session | undefined => current,
  /** The token that the service has refused; the dialog for a new login is shown while it is the current one. */
  refusedToken: (): string | undefined => (refused === current?.token ? refused : undefined),
  /** Begins a session, and sends the waiting requests again. */
  begin(next: Session) {
    begin(next)
    tell({ begun: next })
  },
  /** Replaces what is known of the current token. A token that is no longer the current one changes nothing. */
  update(next: Session) {
    if (next.token !== current?.token) return
    keep(next)
    notify()
  },
  end() {
    if (current) tell({ ended: current.user.id })
    end()
  },
  /** Waits for a token other than the refused one. Resolves with false when the person signs out instead. */
  renewed(token: string): Promise<boolean> {
    if (current?.token !== token) return Promise.resolve(current !== undefined)
    refused = token
    notify()
    return new Promise(resolve => waiting.push(resolve))
  },
  subscribe(listener: () => void) {
    listeners.add(listener)
    return () => listeners.delete(listener)
  },
}

function read(): Session | undefined {
  try {
    return JSON.parse(sessionStorage.getItem(KEY) ?? 'null') ?? undefined
  } catch {
    return undefined
  }
}

function ask(): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  found = () => {
    found = undefined
    resolve()
  }
  asks = true
  setTimeout(() => found?.(), ASKING_MS)
  tell({ ask: true })
  return promise
}

function hear(message: Message) {
  if ('ask' in message) {
    if (current && current.token !== refused && current.expiresAt > Date.now()) tell({ answer: current })
  } else if ('answer' in message) {
    if (asks) begin(message.answer)
    found?.()
  } else if ('begun' in message) {
    // A tab with the session of another user keeps it.
    if (!current || current.user.id === message.begun.user.id) begin(message.begun)
  } else if (current?.user.id === message.ended) end()
}

function begin(next: Session) {
  asks = false
  keep(next)
  refused = undefined
  settle(true)
}

function end() {
  current = undefined
  sessionStorage.removeItem(KEY)
  settle(false)
}

function keep(next: Session) {
  current = next
  sessionStorage.setItem(KEY, JSON.stringify(next))
}

function notify() {
  for (const listener of listeners) listener()
}

function settle(renewed: boolean) {
  const settled = waiting
  waiting = []
  for (const resolve of settled) resolve(renewed)
  notify()
}

/** The session; undefined when no user is signed in. */
export const useSession = (): Session | undefined => useSyncExternalStore(session.subscribe, session.current)

/** The token that the service has refused; undefined after a new login. */
export const useRefusedToken = (): string | undefined =>
  useSyncExternalStore(session.subscribe, session.refusedToken)

/** Whether the session allows operations with a scope. Actions that it does not allow are absent. */
export const useAllowed = (scope: Scope): boolean => useSession()?.scopes.includes(scope) ?? false
