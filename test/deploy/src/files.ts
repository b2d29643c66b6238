import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'

export const ROOT = join(import.meta.dirname, '../../..')

export const textOf = (path: string) => readFileSync(join(ROOT, path), 'utf8')

/** Parses YAML as Compose and Kubernetes do, with merge keys. @throws when a key occurs twice */
export const yamlOf = (path: string): unknown => parse(textOf(path), { merge: true })
