import type { Operation } from '../operations/operation.ts'
import { PROBLEMS, type Problem, type ProblemCode } from '../operations/problems.ts'

/** Problems that any operation may answer with. The document describes them once. */
export const PROBLEMS_OF_ALL: readonly ProblemCode[] = [
  'unauthenticated',
  'scope-missing',
  'method-not-allowed',
  'request-timeout',
  'body-too-large',
  'uri-too-long',
  'unsupported-media-type',
  'too-many-requests',
  'headers-too-large',
  'internal-error',
  'unavailable',
  'body-memory-full',
  'response-memory-full',
  'stream-quarantined',
  'not-ready',
]

/** The other problems of an operation: the declared ones, and those that follow from its method and input. */
export function problemsOf({ method, params, idempotent, problems = [] }: Operation): ProblemCode[] {
  const found: (ProblemCode | false | undefined)[] = [
    'malformed-request',
    'invalid-request',
    params && 'not-found',
    idempotent && 'request-in-progress',
    idempotent && 'idempotency-key-reused',
    method !== 'GET' && 'write-conflict',
    ...problems.filter(code => !PROBLEMS_OF_ALL.includes(code)),
  ]
  return [...new Set(found.filter(code => code !== false && code !== undefined))]
}

/** Members of the examples of problems whose detail says more than their title. */
const DETAILS: Partial<Record<ProblemCode, Partial<Problem>>> = {
  'invalid-request': {
    detail: 'displayName must not be empty',
    errors: [{ field: 'displayName', message: 'must not be empty' }],
  },
  'document-invalid': {
    detail: 'line 3, column 7: duplicated mapping key',
    errors: [{ line: 3, column: 7, pointer: null, message: 'duplicated mapping key' }],
  },
  'rule-set-invalid': {
    detail: 'line 1, column 12: extends may name only built-in sets',
    errors: [{ line: 1, column: 12, pointer: '/extends/0', message: 'extends may name only built-in sets' }],
  },
  'document-gone': { detail: 'the bytes were removed', sha256: 'a1'.repeat(32) },
  'position-gone': {
    detail: 'events after this position have been removed because of their age: read after=oldestPosition',
    oldestPosition: 'WzEsNDcxMSwiIixbWyJjYXRhbG9nIiwiejEyLjQ3MDkiLDBdXV0',
  },
  'not-found': {
    detail: 'api_id must be a UUID',
    errors: [{ field: 'api_id', message: 'must be a UUID' }],
  },
  'scope-missing': { detail: 'needs the scope API_WRITE', scope: 'API_WRITE' },
}

export const problemExample = (code: ProblemCode): Problem => ({
  type: `urn:gantry:problem:${code}`,
  title: PROBLEMS[code].title,
  status: PROBLEMS[code].status,
  detail: PROBLEMS[code].title,
  instance: '/apis',
  code,
  requestId: '6a1b0f0e-54a7-4a0f-9c86-3d0f3f2b7c11',
  timestamp: '2026-11-21T09:30:00.000Z',
  ...DETAILS[code],
})
