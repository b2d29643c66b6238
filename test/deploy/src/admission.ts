import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { goProgram } from '@gantry/engines'
import { z } from 'zod'
import { endsWithParent } from '../../../bin/orphans.mjs'
import type { Resource } from './charts.ts'
import { KUBERNETES } from './schemas.ts'

/** The program of test/deploy/admission, compiled with Go unless it is cached. @returns its path; undefined without Go */
export const admissionProgram = (): Promise<string | undefined> =>
  goProgram({
    name: 'admission',
    version: KUBERNETES,
    sources: join(import.meta.dirname, '..', 'admission'),
    flags: ['-ldflags=-s -w'],
    compileMs: 1_800_000,
  })

const Admitted = z.object({
  /** The kind of each accepted resource. */
  accepted: z.array(z.string()),
  /** Why resources are refused, in a line each. */
  refused: z.array(z.string()),
  /** What kubectl would print. */
  warnings: z.array(z.string()),
  /** Kinds that the API server knows by CustomResourceDefinitions only. */
  unknown: z.array(z.string()),
})
export type Admitted = z.infer<typeof Admitted>

/** Has lists of resources admitted, by name. */
export async function admit<Name extends string>(
  program: string,
  lists: Record<Name, readonly Resource[]>,
): Promise<Record<Name, Admitted>> {
  const child = endsWithParent(spawn(program))
  child.stdin.end(JSON.stringify(lists))
  const [printed, errors] = await Promise.all([text(child.stdout), text(child.stderr)])
  if (printed === '') throw new Error(errors)
  return z.record(z.string(), Admitted).parse(JSON.parse(printed)) as Record<Name, Admitted>
}
