/** An engine's server that a test can use. */
export interface Engine {
  url: string
  /** Ends it, and removes the data of a server that was started for the test. */
  stop(): Promise<void>
  /** What may be done to a server that was started for the test; absent when it is somebody's own. */
  faults?: Faults
}

export interface Faults {
  /** SIGKILL; the data stays. */
  kill(): Promise<void>
  /** After `kill`: on the same address and the same data. */
  restart(): Promise<void>
  /** SIGSTOP: it keeps its connections and says nothing. */
  pause(): Promise<void>
  resume(): Promise<void>
}

export interface StartOptions {
  /** Arguments of the server beside those that every test needs. */
  args?: readonly string[]
  /** Where a server keeps its data from run to run, if it is no container; else it begins with none and leaves none. */
  folder?: string
}

/** What was found when an engine was looked for. */
export type Found =
  | {
      found: true
      kind: 'url' | 'docker' | 'path' | 'installed' | 'stand-in'
      /** The engine, its version and where it is from, in a line. */
      description: string
      /** Of a program on this machine. */
      version?: { major: number; minor: number }
      /** Starts a server, with no data unless it is told where they are; of kind `url` it is the one that is there, whatever it holds. */
      start(options?: StartOptions): Promise<Engine>
    }
  | {
      found: false
      /** How to get it, in a line. */
      how: string
    }
