/** The end of a command by SIGINT or SIGTERM. */
export interface Interruption {
  /** Aborted by the first signal. The second one ends the process at once. */
  signal: AbortSignal
  /** The exit code: 128 and the number of the signal if one came, otherwise the given one. */
  code(otherwise: number): number
}

const CODES = { SIGINT: 130, SIGTERM: 143 } as const

export function interruption(): Interruption {
  const controller = new AbortController()
  let interrupted: number | undefined
  for (const [name, code] of Object.entries(CODES))
    process.on(name, () => {
      if (interrupted !== undefined) process.exit(code)
      interrupted = code
      controller.abort()
    })
  return { signal: controller.signal, code: otherwise => interrupted ?? otherwise }
}
