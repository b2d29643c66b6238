// Every npm script of the root comes through here. The Node of the host is looked at before anything that an old one
// could not read.
import { hostTrouble } from './host-node.mjs'

const trouble = hostTrouble(process.versions.node)
if (trouble.length === 0) {
  import('./launch.mjs')
} else {
  for (const line of trouble) console.error(line)
  process.exitCode = 1
}
