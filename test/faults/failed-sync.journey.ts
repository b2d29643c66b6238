import { execFileSync } from 'node:child_process'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { startServiceProcess } from '@gantry/standalone/testing'
import { expect, test, vi } from 'vitest'
import { allApis, apiNamed, call, createApi, newFolder } from './src/service.ts'

const folder = newFolder()
const library = join(folder, 'fail-sync.so')

/**
 * Builds a replacement of fdatasync of libc that fails with EIO while the file FAIL_SYNC exists.
 * @returns why this machine cannot build it; undefined when it is built
 */
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

test('a failed sync of the disk ends the service with code 1 and one line; the next start has all acknowledged writes', async ({
  skip,
}) => {
  const notBuilt = build()
  skip(notBuilt !== undefined, notBuilt)
  const data = join(folder, 'data')
  const failing = join(folder, 'failing')
  const service = await startServiceProcess(data, { LD_PRELOAD: library, FAIL_SYNC: failing })
  await createApi(service, 'acknowledged')
  const before = service.output()
  writeFileSync(failing, '')
  await expect(call(service, 'POST', '/apis', apiNamed('lost'))).rejects.toThrow(TypeError)
  await vi.waitFor(() => expect(service.output()).toContain('cannot be synced'))
  expect(await service.stop()).toBe(1)
  expect(service.output().slice(before.length)).toMatch(
    /^gantry: .*\.db cannot be synced to the disk \(EIO: i\/o error, fdatasync\): the last writes may be lost\n$/,
  )

  rmSync(failing)
  const next = await startServiceProcess(data)
  expect((await allApis(next)).map(({ name }) => name)).toContain('acknowledged')
  expect(await next.stop()).toBe(0)
})
