import { execFileSync } from 'node:child_process'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startServiceProcess } from '@gantry/standalone/testing'
import { afterAll, describe, expect, test, vi } from 'vitest'

const folder = mkdtempSync(join(tmpdir(), 'gantry-failed-sync-'))
const library = join(folder, 'fail-sync.so')
const notBuilt = build()
/** Kills processes that a failed test has left running. */
const stopping: (() => Promise<void>)[] = []
afterAll(async () => {
  await Promise.all(stopping.map(kill => kill()))
  await rm(folder, { recursive: true })
})

/** Builds a replacement of fdatasync of libc that fails with EIO while the file FAIL_SYNC exists. */
function build(): string | undefined {
  if (process.platform !== 'linux') return 'LD_PRELOAD exists only on Linux'
  const source = join(folder, 'fail-sync.c')
  writeFileSync(
    source,
    `#define _GNU_SOURCE
     #include <errno.h>
     #include <stdlib.h>
     #include <sys/syscall.h>
     #include <unistd.h>
     int fdatasync(int fd) {
       const char *failing = getenv("FAIL_SYNC");
       if (failing == NULL || access(failing, F_OK) != 0) return syscall(SYS_fdatasync, fd);
       errno = EIO;
       return -1;
     }`,
  )
  try {
    execFileSync('cc', ['-shared', '-fPIC', '-o', library, source], { stdio: 'pipe' })
    return undefined
  } catch (error) {
    return `no C compiler: ${(error as Error).message.split('\n')[0]}`
  }
}

describe.skipIf(notBuilt !== undefined)('a disk that fails to sync', { meta: { skipped: notBuilt } }, () => {
  test('ends the service with exit code 1 and one line, and the next start has all acknowledged writes', {
    timeout: 60_000,
  }, async () => {
    const data = join(folder, 'data')
    const failing = join(folder, 'failing')
    const service = await startServiceProcess(data, { LD_PRELOAD: library, FAIL_SYNC: failing })
    stopping.push(service.kill)
    const createApi = (name: string) =>
      fetch(`${service.url}/apis`, {
        method: 'POST',
        headers: { authorization: service.authorization, 'content-type': 'application/json' },
        body: JSON.stringify({ name, displayName: 'x', status: 'ACTIVE', tags: [] }),
      })
    expect((await createApi('acknowledged')).status).toBe(201)
    const before = service.output()
    writeFileSync(failing, '')
    await expect(createApi('lost')).rejects.toThrow(TypeError)
    await vi.waitFor(() => expect(service.output()).toContain('cannot be synced'), { timeout: 10_000 })
    expect(await service.stop()).toBe(1)
    expect(service.output().slice(before.length)).toMatch(
      /^gantry: .*\.db cannot be synced to the disk \(EIO: i\/o error, fdatasync\): the last writes may be lost\n$/,
    )

    await rm(failing)
    const next = await startServiceProcess(data)
    stopping.push(next.kill)
    const listed = await fetch(`${next.url}/apis`, { headers: { authorization: next.authorization } })
    const { content } = (await listed.json()) as { content: { name: string }[] }
    expect(content.map(({ name }) => name)).toContain('acknowledged')
    expect(await next.stop()).toBe(0)
  })
})
