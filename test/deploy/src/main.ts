// Writes the lists of settings in the manual and in the chart as they follow from the zod schemas.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { derivedFiles } from './derived.ts'
import { ROOT } from './files.ts'

for (const { path, text } of derivedFiles()) writeFileSync(join(ROOT, path), text)
