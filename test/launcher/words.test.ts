import { describe, expect, test } from 'vitest'
import { expectRuntime } from '../../bin/runtime.mjs'
import { terminal } from '../../bin/terminal.mjs'
import { installTrouble } from '../../bin/trouble.mjs'

describe('an installation error has a clear message', () => {
  test.each([
    ['ENOTFOUND', 'the npm registry is out of reach (ENOTFOUND registry.example)'],
    ['EAI_AGAIN', 'the npm registry is out of reach (EAI_AGAIN registry.example)'],
    ['ETIMEDOUT', 'the npm registry is out of reach (ETIMEDOUT registry.example)'],
    ['503', 'the npm registry is out of reach (503 registry.example)'],
    ['SELF_SIGNED_CERT_IN_CHAIN', 'the certificate of the npm registry is not trusted'],
    ['ENOSPC', 'the disk is full'],
    ['EACCES', 'no permission to write'],
    ['EROFS', 'no permission to write'],
    ['EUSAGE', 'package-lock.json does not match the package.json files'],
    ['E403', 'the npm registry refuses access'],
    ['ETARGET', 'the npm registry does not have all packages'],
    ['ENONPM', 'there is no npm on the PATH'],
  ])('%s', (code, words) => {
    const trouble = installTrouble(code, { root: '/srv/gantry', where: 'registry.example' })

    expect(trouble.message).toContain(`Cannot install: ${words}`)
    expect(trouble.advice).not.toBe('')
    expect(trouble.code).toBe(1)
  })

  test('for an unknown code with the output of npm', () => {
    const trouble = installTrouble('EWEIRD', { root: '/srv/gantry', lines: ['  something odd'] })

    expect(trouble.message).toBe('Cannot install: npm ci failed (EWEIRD).')
    expect(trouble.advice).toBe('  something odd')
  })

  test('for a platform without Node 24, before the installation', () => {
    const lockfile = { packages: { 'node_modules/node-sunos-sparc': {} } }

    expect(() => expectRuntime(lockfile, '20.20.2')).toThrow(
      `Gantry runs on Node 24; npm has none for ${process.platform}-${process.arch} and this is Node 20.20.2.`,
    )
    expect(() => expectRuntime(lockfile, '24.21.0')).not.toThrow()
  })
})

describe('the terminal', () => {
  const status = '\r\x1b[2K\x1b[2mInstalling: 3 of 9 packages fetched, 4 s\x1b[0m'

  test('redraws one line and colors it', () => {
    const { written, screen } = speaking({ isTTY: true }, {})
    screen.status('Installing: 3 of 9 packages fetched, 4 s')
    screen.done('Installed.')

    expect(written()).toBe(`${status}\r\x1b[2K\x1b[32mInstalled.\x1b[0m\n`)
  })

  test('has no colours with NO_COLOR', () => {
    const { written, screen } = speaking({ isTTY: true }, { NO_COLOR: '1' })
    screen.status('Installing: 3 of 9 packages fetched, 4 s')
    screen.fail('Cannot install.', 'Do this.')

    expect(written()).toBe(
      '\r\x1b[2KInstalling: 3 of 9 packages fetched, 4 s\r\x1b[2KCannot install.\nDo this.\n',
    )
  })

  test('that is no terminal gets plain lines only', () => {
    const { written, screen } = speaking({ isTTY: false }, {})
    screen.line('Installing.')
    screen.status('Installing: 3 of 9 packages fetched, 4 s')
    screen.done('Installed.')

    expect(written()).toBe('Installing.\nInstalled.\n')
  })

  function speaking(stream: { isTTY: boolean }, env: Record<string, string>) {
    let text = ''
    const sink = {
      ...stream,
      columns: 80,
      write: (chunk: string) => {
        text += chunk
        return true
      },
    }
    return { written: () => text, screen: terminal(sink, env) }
  }
})
