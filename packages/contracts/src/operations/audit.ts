import { z } from 'zod'
import { operation } from './operation.ts'
import { pageOf, paging, Timestamp } from './primitives.ts'

const Hash = z.string().regex(/^[0-9a-f]{64}$/)
const RecordPlace = z
  .object({
    number: z.int().meta({ description: 'Number of the record in the hash chain, from 1' }),
    position: z.string().meta({ description: 'Position in the event log' }),
  })
  .meta({ id: 'RecordPlace' })
const ChainPoint = RecordPlace.extend({ chainHash: Hash }).meta({
  id: 'ChainPoint',
  description: 'The hash chain after a record; number 0 is its beginning',
})
const LogPoint = z
  .object({
    events: z.int().meta({ description: 'Number of covered events up to here' }),
    position: z.string().meta({ description: 'Position in the event log of the last of them' }),
    hash: Hash,
  })
  .meta({
    id: 'LogPoint',
    description: 'The hash of all events that the chain covers, also of those without a record',
  })
const signed = {
  kid: z.string().meta({ description: 'Id of a key in /.well-known/audit-keys.json' }),
  signedAt: Timestamp,
}
const signature = z.string().meta({ description: 'Ed25519, base64url; docs/audit.md says what is signed' })

const DayRoot = z
  .object({
    day: z.iso.date().meta({ description: 'UTC day of recording', override: { pattern: undefined } }),
    count: z.int().meta({ description: 'Number of records of the day' }),
    first: RecordPlace.nullable(),
    last: RecordPlace.nullable(),
    before: ChainPoint,
    after: ChainPoint,
    log: LogPoint,
    ...signed,
    signature,
    valid: z.boolean().meta({
      description: 'Whether the signature is valid and the audit log still leads to the signed hash',
    }),
  })
  .meta({ id: 'AuditDayRoot' })
export type AuditDayRoot = z.infer<typeof DayRoot>

const ChainHead = ChainPoint.extend({ log: LogPoint, ...signed, signature }).meta({ id: 'AuditChainHead' })

const record = { number: 4711, position: '0000000000019240' }
const point = {
  ...record,
  chainHash: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
}
const log = {
  events: 19233,
  position: '0000000000019240',
  hash: '60303ae22b998861bce3b28f33eec1be758a213c86c93c076dbe9f558c11c752',
}
const signatureExample = {
  kid: 'A9nNc_CzeYnUNRd6NpeE342FqlbaMx0pq-KO39qZ5C0',
  signedAt: '2026-11-22T00:00:05.000Z',
  signature: 'Zx3v…',
}

export const listAuditProofs = operation('listAuditProofs', 'GET /auditLog/proofs', {
  service: 'identity',
  tag: 'Audit',
  summary: 'List the signed roots of days',
  description:
    'After each UTC day, the chain hash after its last record is signed and appended to the event log. Each day since the first record has a root, also a day without records. `head` is the present end of the chain, signed at the time of the request: a copy proves later whether a record before it was changed or removed. It is null when the log differs from its roots or from what was projected before.',
  scope: 'AUDIT_LOG_READ',
  query: z.object(paging(['day'], 'day,desc')),
  responses: {
    200: {
      description: 'A page of day roots, and the head of the chain',
      schema: pageOf(DayRoot, 'AuditProofsPage')
        .extend({
          head: ChainHead.nullable(),
          problem: z.string().nullable().meta({
            description:
              'What was changed in the event log or the audit log; nothing is signed until it is restored',
          }),
        })
        .meta({ id: 'AuditProofs' }),
      example: {
        content: [
          {
            day: '2026-11-21',
            count: 1,
            first: record,
            last: record,
            before: { number: 4710, position: '0000000000019239', chainHash: '0'.repeat(64) },
            after: point,
            log,
            ...signatureExample,
            valid: true,
          },
        ],
        size: 10,
        number: 1,
        totalPages: 1,
        totalElements: 1,
        last: true,
        head: { ...point, log, ...signatureExample },
        problem: null,
      },
    },
  },
})
