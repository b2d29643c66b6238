/** A server of a store that a test can use. */
export interface Engine {
  url: string
  /** Stops the server, and removes the data of a server that was started for the test. */
  stop(): Promise<void>
  /** Faults that can be caused on a server that was started for the test; absent for an external server. */
  faults?: Faults
}

export interface Faults {
  /** SIGKILL. The data remains. */
  kill(): Promise<void>
  /** Starts the server again after `kill`, on the same address and data. */
  restart(): Promise<void>
  /** SIGSTOP. The server keeps its connections and does not answer. */
  pause(): Promise<void>
  resume(): Promise<void>
}

export interface StartOptions {
  /** Additional arguments of the server. */
  args?: readonly string[]
  /** Folder in which a server without a container keeps its data. Default: a temporary folder, removed at the end. */
  folder?: string
}

/** The result of looking for a server. */
export type Found =
  | {
      found: true
      kind: 'url' | 'docker' | 'path' | 'installed' | 'stand-in'
      /** Store, version and origin, in one line. */
      description: string
      /** Version of a program on this machine. */
      version?: { major: number; minor: number }
      /** Starts a server, empty unless `folder` has data. Kind `url`: returns the existing server with its data. */
      start(options?: StartOptions): Promise<Engine>
    }
  | {
      found: false
      /** How to get one, in one line. */
      how: string
    }
