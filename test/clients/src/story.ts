import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onPath, run } from '@gantry/engines'
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
  /** Programs that the machine must have. */
  tools: readonly string[]
  /** Installs the generators, unless they are cached. A failure is that of the network or of the machine. */
  install(): Promise<void>
  /** Generates clients from the document, unless they are cached, and compiles the stories strictly. @returns a program for each */
  build(document: string): Promise<readonly Program[]>
}

/** The journey of a language: the stories pass with the clients that are generated from the document of a running service. */
export function journeyOf(language: string, { generators, tools, install, build }: Language): void {
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
    await expectTools(context, language, tools, install)
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

/** Skips the test where a tool is missing, and outside CI also where the generators cannot be installed. */
async function expectTools(
  { skip }: TestContext,
  language: string,
  tools: readonly string[],
  install: () => Promise<void>,
): Promise<void> {
  for (const tool of tools) skip(!(await onPath(tool)), `${language} needs ${tool}, which is not on the PATH`)
  await install().catch((error: Error) => {
    skip(!process.env.CI, `the generators could not be installed: ${error.message.split('\n', 1)[0]}`)
    throw error
  })
}
