import { expect, test } from 'vitest'
import { titleOf, versionNamesIn } from './operations.ts'

const document = (name: string, operations: number) => ({ name, kind: 'openapi', counts: { operations } })
const entry = (operation: string, changes: Parameters<typeof titleOf>[0]['changes']) => ({
  ...{ operation, changes, resourceType: 'API_VERSION', resourceId: 'v', environment: null },
})
const documents = (operation: string, before: unknown, value: unknown) =>
  entry(`API_VERSION_DOCUMENT_${operation}`, [{ op: 'replace', path: '/documents', before, value }])
const versions = new Map([['v', '2.0.0']])
const [a, b] = [document('a.yaml', 1), document('b.yaml', 2)]

test.for([
  [documents('UPDATED', undefined, [a]), 'Document a.yaml added in version 2.0.0'],
  [documents('UPDATED', [a, b], [a, document('b.yaml', 3)]), 'Document b.yaml changed in version 2.0.0'],
  [documents('DELETED', [a, b], [b]), 'Document a.yaml deleted in version 2.0.0'],
  [entry('API_VERSION_DOCUMENT_UPDATED', []), 'A document changed in version 2.0.0'],
  [entry('API_VERSION_CREATED', []), 'Version 2.0.0 created'],
  [entry('API_DELETED', []), 'Version 2.0.0 deleted with the API'],
] as const)('an entry of a version names what it is about: %#', ([of, title]) => {
  expect(titleOf(of, { versions })).toBe(title)
})

test('an entry of a deployment names the environment', () => {
  const deployed = { ...entry('API_DEPLOYED', []), resourceType: 'API', environment: 's' }
  expect(titleOf(deployed, { versions, environments: new Map([['s', 'Staging']]) })).toBe(
    'Deployed to Staging',
  )
  expect(titleOf({ ...deployed, operation: 'API_UNDEPLOYED' }, { versions })).toBe('Undeployed from s')
})

test('a version has the name that it got last, also after its deletion', () => {
  const deleted = entry('API_VERSION_DELETED', [{ op: 'remove', path: '/name', before: '2' }])
  const renamed = entry('API_VERSION_UPDATED', [{ op: 'replace', path: '/name', before: '1', value: '2' }])
  const created = entry('API_VERSION_CREATED', [{ op: 'add', path: '/name', value: '1' }])
  expect(versionNamesIn([deleted, renamed, created])).toEqual(new Map([['v', '2']]))
})
