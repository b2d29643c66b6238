import { Alert, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { AnchorLink } from '../parts/links.tsx'
import { ProblemPanel } from '../parts/problem-panel.tsx'
import { Loading } from '../parts/states.tsx'
import { coverageOf } from './proofs.ts'

/** Whether the signed root of a day proves an entry. */
export function ProofOfEntry({ number }: { number: number }) {
  const coverage = useQuery(coverageOf(number))
  if (coverage.isPending) return <Loading what="the proof" />
  if (coverage.isError)
    return (
      <ProblemPanel
        what="The proof cannot be read"
        error={coverage.error}
        onRetry={() => coverage.refetch()}
      />
    )
  const proof = coverage.data
  const more = (
    <AnchorLink to="/audit/proofs" size="sm" underline="always">
      Show the proofs
    </AnchorLink>
  )
  if (proof.kind === 'problem')
    return (
      <Alert color="red" title="The audit log is not valid" role="note">
        <Text size="sm">
          Nothing proves this record: {proof.problem}. {more}
        </Text>
      </Alert>
    )
  if (proof.kind === 'head')
    return (
      <Alert color="gray" title="Not covered by a signed day yet" role="note">
        <Text size="sm">
          The root of its UTC day is signed after midnight. Until then the head of the chain covers it, which
          is signed for each request: record {number.toLocaleString('en')} of{' '}
          {proof.head.number.toLocaleString('en')}. {more}
        </Text>
      </Alert>
    )
  const { day, before, after, valid } = proof.root
  const covered = valid
    ? { color: 'teal', title: `Covered by the signed root of ${day}` }
    : { color: 'red', title: `The proof of ${day} is broken` }
  return (
    <Alert {...covered} role="note">
      <Text size="sm">
        {valid
          ? `The signature is valid, and the audit log leads to the signed hash of the records ${(before.number + 1).toLocaleString('en')} to ${after.number.toLocaleString('en')}.`
          : 'The signature is not valid, or the audit log no longer leads to the signed hash: records were changed, removed or added.'}{' '}
        {more}
      </Text>
    </Alert>
  )
}
