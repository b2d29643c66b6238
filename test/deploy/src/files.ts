import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'

export const ROOT = join(import.meta.dirname, '../../..')

export const textOf = (path: string) => readFileSync(join(ROOT, path), 'utf8')

/** As Compose and Kubernetes read it, merge keys included; a key that is there twice is refused. */
export const yamlOf = (path: string): unknown => parse(textOf(path), { merge: true })
