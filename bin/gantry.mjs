#!/usr/bin/env node
// The entry point of every npm script of the root. It checks the host's Node version before it loads modules that an old
// Node cannot parse.
import { unsupportedNode } from './host-node.mjs'

const lines = unsupportedNode(process.versions.node)
for (const line of lines) console.error(line)
if (lines.length > 0) process.exitCode = 1
else import('./launch.mjs')
