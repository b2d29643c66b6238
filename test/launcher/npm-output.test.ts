import { describe, expect, test } from 'vitest'
import { readNpm } from '../../bin/npm-output.mjs'

/** Lines that npm 10 and 11 print, with fixed values for what varies. */
const refused = (attempt: number) =>
  `npm http fetch GET http://127.0.0.1:4873/zod attempt ${attempt} failed with ECONNREFUSED`
const fetched = 'npm http fetch GET 200 http://127.0.0.1:4873/zod/-/zod-4.6.7.tgz 12ms (cache miss)'

function reading(tries = 4) {
  const clock = { now: 0 }
  const heard: string[] = []
  const npm = readNpm({
    tries,
    onFetched: () => heard.push('fetched'),
    onRetry: reason => heard.push(reason),
    now: () => clock.now,
  })
  return { npm, clock, heard }
}

describe("npm's output", () => {
  test('counts fetched packages, but not metadata requests', () => {
    const { npm, heard } = reading()
    npm.line('npm http fetch GET 200 http://127.0.0.1:4873/zod 12ms (cache miss)')
    npm.line(fetched)
    npm.line('npm warn EBADENGINE Unsupported engine {')

    expect(heard).toEqual(['fetched'])
    expect(npm.verdict).toEqual({ code: undefined, where: '', lines: [] })
  })

  test('means failure when the last try for a package was not answered', () => {
    const { npm, heard } = reading(2)

    expect(npm.line(refused(1))).toBe(false)
    expect(npm.line(refused(2))).toBe(true)
    expect(heard).toEqual(['ECONNREFUSED', 'ECONNREFUSED'])
    expect(npm.verdict).toMatchObject({ code: 'ECONNREFUSED', where: '127.0.0.1:4873' })
  })

  test('means failure after twenty seconds with nothing but errors', () => {
    const { npm, clock } = reading()

    expect(npm.line(refused(1))).toBe(false)
    clock.now = 19_999
    expect(npm.line(refused(1))).toBe(false)
    clock.now = 20_000
    expect(npm.line(refused(1))).toBe(true)
  })

  test('does not mean failure when packages were fetched meanwhile', () => {
    const { npm, clock } = reading()
    npm.line(refused(1))
    clock.now = 15_000
    npm.line(fetched)
    clock.now = 25_000

    expect(npm.line(refused(1))).toBe(false)
  })

  test('means failure when a file could not be written, although npm only warns', () => {
    const { npm } = reading()

    expect(npm.line('npm warn tar TAR_ENTRY_ERROR ENOSPC: no space left on device, write')).toBe(true)
    npm.line(fetched)
    expect(npm.verdict.code).toBe('ENOSPC')
  })

  test.each(['npm error', 'npm ERR!'])('contains the code and the message of an error after "%s"', prefix => {
    const { npm } = reading()
    npm.line(`${prefix} code ENOTFOUND`)
    npm.line(`${prefix} syscall getaddrinfo`)
    npm.line(`${prefix} network request to http://127.0.0.1:4873/zod failed, reason: getaddrinfo ENOTFOUND`)
    npm.line(`${prefix}     at ClientRequest.emit (node:events:524:28)`)
    npm.line(`${prefix}`)

    expect(npm.verdict).toEqual({
      code: 'ENOTFOUND',
      where: '127.0.0.1:4873',
      lines: ['  network request to http://127.0.0.1:4873/zod failed, reason: getaddrinfo ENOTFOUND'],
    })
  })
})
