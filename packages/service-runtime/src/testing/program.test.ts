import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

test('processes that take ports at the same time get different ones', async () => {
  const take = `
    const { freePort } = await import(${JSON.stringify(join(import.meta.dirname, 'program.ts'))})
    console.log(JSON.stringify(await Promise.all(Array.from({ length: 200 }, freePort))))`
  const taken = async (): Promise<number[]> => {
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', take])
    return JSON.parse(stdout)
  }
  const ports = (await Promise.all([taken(), taken(), taken()])).flat()
  expect(new Set(ports).size).toBe(600)
})
