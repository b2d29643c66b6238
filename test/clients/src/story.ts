import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { run } from '@gantry/engines'
import { ADMINISTRATOR, type ServiceProcess, startServiceProcess } from '@gantry/standalone/testing'
import { beforeAll, expect, type TestContext, test } from 'vitest'

/** What a story does with a generated client. It prints the name of each step after it has checked the responses. */
const STEPS = [
  'login header',
  'create with key',
  'list',
  '304',
  '412',
  'upload',
  'download',
  'version',
  'document',
  'token',
  'webhook',
  'deliveries',
  'page of events',
  'typed problem',
]

const RUN_MS = 120_000

/** A program that plays the story. */
interface Program {
  command: string
  args: readonly string[]
}

export interface Language {
  /** The generators, with their versions. */
  generators: string
  /** Which program the machine lacks; undefined if it has all. */
  missing(): Promise<string | undefined>
  /** Installs the generators, unless they are cached. A failure is that of the network or of the machine. */
  install(): Promise<void>
  /** Generates clients from the document, unless they are cached, and compiles the stories strictly. @returns a program for each */
  build(document: string): Promise<readonly Program[]>
}

/** The journey of a language: the stories pass with the clients that are generated from the document of a running service. */
export function journeyOf(language: string, { generators, missing, install, build }: Language): void {
  let service: ServiceProcess
  beforeAll(async () => {
    const folder = await mkdtemp(join(tmpdir(), 'gantry-clients-'))
    service = await startServiceProcess(folder)
    return async () => {
      await service.stop()
      await rm(folder, { recursive: true })
    }
  })

  test(`clients in ${language} of ${generators} compile strictly and do the story`, async context => {
    const lacking = await missing()
    context.skip(lacking !== undefined, `${language} needs ${lacking}, which is not on this machine`)
    await expectInstalled(context, install)
    const document = await (await fetch(`${service.url}/openapi.json`)).text()
    for (const { command, args } of await build(document)) {
      const env = { ...ADMINISTRATOR_ENVIRONMENT, GANTRY_URL: service.url }
      const printed = await run(command, args, { env, timeoutMs: RUN_MS })
      expect(printed.trim().split('\n')).toEqual(STEPS)
    }
  })
}

const ADMINISTRATOR_ENVIRONMENT = {
  GANTRY_USERNAME: ADMINISTRATOR.username,
  GANTRY_PASSWORD: ADMINISTRATOR.password,
}

/** Outside CI the test is skipped when the generators cannot be installed, e.g. without a network. */
async function expectInstalled({ skip }: TestContext, install: () => Promise<void>): Promise<void> {
  await install().catch((error: Error) => {
    skip(!process.env.CI, `the generators could not be installed: ${error.message.split('\n', 1)[0]}`)
    throw error
  })
}
