import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { openApiDocument } from '@gantry/contracts'
import openapiTypescript, { astToString } from 'openapi-typescript'

const FILE = join(import.meta.dirname, '../../../../.cache/openapi.d.ts')

// Writes the types of the REST interface for the client of the console, from the same document as /openapi.json. They are
// in a global namespace, so that no source file imports a generated one.
const document = openApiDocument({ basePath: '', version: '0' }) as Parameters<typeof openapiTypescript>[0]
const text = `declare namespace OpenApi {\n${astToString(await openapiTypescript(document))}\n}\n`
// tsc reads the file in every check, so it keeps its time of change.
if ((await readFile(FILE, 'utf8').catch(() => '')) !== text) {
  await mkdir(dirname(FILE), { recursive: true })
  await writeFile(FILE, text)
}
