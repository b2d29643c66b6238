import { resolve } from 'node:path'
import { cruiseProject } from './cruise.ts'
import { checkSizes } from './sizes.ts'

/** Checks the import rules and the sizes for `npm run check`. The argument is the folder of the project, by default this one. */
const [root = resolve(import.meta.dirname, '../../..')] = process.argv.slice(2)
const { read, report, unread, violations } = await cruiseProject(root)
// A TypeScript that dependency-cruiser skips has no parser for the sizes either.
const oversized = unread.length > 0 ? [] : checkSizes(root)

if (report) console.log(report)
if (unread.length > 0)
  console.log(
    `dependency-cruiser did not read ${unread.length} source files, for example ${unread[0]}. It reads TypeScript only with a typescript below 7.`,
  )
if (oversized.length > 0) console.log(oversized.join('\n'))
if (violations.length + unread.length + oversized.length > 0) process.exitCode = 1
else console.log(`Checked the imports and sizes of ${read} files. No violations found.`)
