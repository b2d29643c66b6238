import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { unsupportedNode } from '../../bin/host-node.mjs'

const root = join(import.meta.dirname, '../..')
const read = (path: string) => readFileSync(join(root, path), 'utf8')
const RANGE = '^20.19.0 || >=22.12.0'

describe('the Node of the host', () => {
  test.for(['12.22.12', '16.20.2', '18.20.8', '20.0.0', '20.10.0', '20.18.3', '21.7.3', '22.0.0', '22.11.0'])(
    '%s is refused before the installation, with the supported versions',
    version => {
      const [wrong, advice] = unsupportedNode(version)
      expect(wrong).toBe(
        `Gantry needs Node 20.19 or a later 20, or 22.12 or later, to be installed and started; this is Node ${version}.`,
      )
      expect(advice).toContain('first on the PATH')
    },
  )

  test.for(['20.19.0', '20.20.2', '22.12.0', '22.22.1', '23.11.0', '24.0.0', '26.1.0'])(
    '%s is supported',
    version => {
      expect(unsupportedNode(version)).toEqual([])
    },
  )

  test('package.json, the README and the platform packages in the lockfile require the same range', () => {
    expect(JSON.parse(read('package.json')).engines.node).toBe(RANGE)
    expect(read('README.md').replaceAll('\n', ' ')).toContain('Node 20.19 or a later 20, or 22.12 or later')
    const { packages } = JSON.parse(read('package-lock.json')) as { packages: Record<string, Locked> }
    const ranges = Object.values(packages)
      .filter(({ os, optional }) => os && optional)
      .flatMap(({ engines }) => engines?.node ?? [])
    const recent = ranges.filter(range => /(\^|>=)2\d\./.test(range))
    expect(new Set(recent)).toEqual(new Set([RANGE]))
  })

  test('the files that check the version use no syntax and no import that Node 12 lacks', () => {
    for (const file of ['bin/gantry.mjs', 'bin/host-node.mjs'])
      expect(read(file)).not.toMatch(/\?\.|\?\?|\bawait\b|['"]node:|#\w|\|\|=|&&=|\.at\(|\.replaceAll\(/)
  })
})

interface Locked {
  os?: string[]
  optional?: boolean
  engines?: { node?: string }
}
