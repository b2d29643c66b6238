// The entry point of every npm script of the root. It checks the host's Node version before it loads modules that an old
// Node cannot parse.
import { hostTrouble } from './host-node.mjs'

const trouble = hostTrouble(process.versions.node)
if (trouble.length === 0) {
  import('./launch.mjs')
} else {
  for (const line of trouble) console.error(line)
  process.exitCode = 1
}
