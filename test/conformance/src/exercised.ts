import { appendFileSync, readFileSync } from 'node:fs'
import type { Operation } from './contract.ts'

/** Records the operations that succeeded, one per line, in a file that all workers append to. */
export const recordIn = (file: string) => {
  const noted = new Set<string>()
  return ({ key }: Operation) => {
    if (!noted.has(key)) appendFileSync(file, `${key}\n`)
    noted.add(key)
  }
}

export const readExercised = (file: string) => new Set(readFileSync(file, 'utf8').split('\n'))
