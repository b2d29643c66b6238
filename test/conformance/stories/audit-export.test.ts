import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { verifyExport } from '@gantry/audit-proofs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { runCommand } from '../src/command.ts'
import { admin, anonymous, cleanUp, createApi, createToken, scopedTo } from '../src/gantry.ts'
import type { Api } from '../src/records.ts'

let folder: string
let api: Api
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'conformance-audit-'))
  api = await createApi()
})
afterAll(() => rm(folder, { recursive: true }))

const publishedKeys = async () =>
  (await anonymous.get('/.well-known/audit-keys.json', {}, { undocumented: true })).is(200)

test.each(['ndjson', 'csv', 'cef'])(
  'an export as %s is proven by the published keys, whatever the filter',
  async format => {
    const query = { format, resource: api.id }
    const answer = (await admin.get('/auditLog/export', query)).is(200)
    expect(answer.text).toContain(api.id)
    const { keys } = (await publishedKeys()).json as { keys: Parameters<typeof verifyExport>[1] }
    const { broken, warnings, ...found } = await verifyExport([Buffer.from(answer.text)], keys)
    expect([broken, warnings]).toEqual([undefined, []])
    expect(found).toMatchObject({ count: 1, trailer: { complete: true, filter: { resource: api.id } } })
    const damaged = Buffer.from(answer.text.replace(api.name, `${api.name}x`))
    expect((await verifyExport([damaged], keys)).broken).toMatchObject({
      number: found.trailer?.last?.number,
    })
  },
)

test('an export needs AUDIT_LOG_READ', async () => {
  ;(await (await scopedTo('API_READ')).get('/auditLog/export')).refused(403, 'scope-missing')
})

test('the commands export and verify the audit log', async () => {
  const { id, token } = await createToken(admin, ['AUDIT_LOG_READ'])
  cleanUp(`/accessTokens/${id}`)
  const file = join(folder, 'audit.csv')
  const args = ['audit', 'export', file, '--format', 'csv', '--resource', api.id]
  expect(await runCommand(args, { GANTRY_TOKEN: token })).toMatchObject({
    code: 0,
    stderr: expect.stringContaining('is complete: 1 records, and the hashes of'),
  })
  const keys = join(folder, 'keys.json')
  await writeFile(keys, (await publishedKeys()).text)
  const { code, stdout } = await runCommand(['audit', 'verify', file, '--keys', keys], {})
  expect([code, stdout]).toEqual([0, expect.stringContaining(': verified: 1 records')])
})
