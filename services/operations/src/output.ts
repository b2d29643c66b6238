import { resolve } from 'node:path'

/** Writes a line for the user to stderr, so that stdout has the result alone. */
export const notice = (line: string): void => void process.stderr.write(`${line}\n`)

/** Writes a line of the result to stdout. Resolves when it is written, so that a slow reader slows the command down. */
export const print = (text: string): Promise<void> =>
  new Promise((written, failed) =>
    process.stdout.write(`${text}\n`, error => (error ? failed(error) : written())),
  )

/** Replaces control characters, so that text from events cannot send commands to a terminal. */
export const harmless = (text: string) => text.replace(/[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu, '�')

/** The path of a file that the user named, relative to the folder in which they typed the command. */
export const fileOf = (path: string, { INIT_CWD }: NodeJS.ProcessEnv) =>
  resolve(INIT_CWD ?? process.cwd(), path)
