import { mkdir, writeFile } from 'node:fs/promises'
import { createClient } from '@hey-api/openapi-ts'
import openapiTypescript, { astToString } from 'openapi-typescript'
import ts from 'typescript'

const document = new URL('openapi.json', import.meta.url)

// Bytes are blobs, and not strings: the example of transform in the documentation of openapi-typescript.
const BLOB = ts.factory.createTypeReferenceNode('Blob')
const types = await openapiTypescript(document, {
  transform: ({ format }) => (format === 'binary' ? BLOB : undefined),
})
await mkdir('generated', { recursive: true })
await writeFile('generated/openapi.ts', astToString(types))

await createClient({ input: document.pathname, output: 'generated/hey-api', logs: { level: 'error' } })
