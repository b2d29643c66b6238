import { Alert, Button, Group, Text } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { answer, client } from '../../http/client.ts'
import { asProblem } from '../../http/problem.ts'
import { whenAdmitted } from '../../parts/admitted.ts'
import type { Delivery } from './delivery-queries.ts'

const AT_ONCE = 4

interface RetryBarProps {
  retriable: readonly Delivery[]
  selected: readonly Delivery[]
  onChoose: (deliveries: readonly Delivery[]) => void
  /** Called with the deliveries whose retry has started. */
  onStarted: (deliveries: readonly Delivery[]) => void
}

/** Selects the deliveries of a page that can be retried, and retries the selected ones. */
export function RetryBar({ retriable, selected, onChoose, onStarted }: RetryBarProps) {
  const queries = useQueryClient()
  const [done, setDone] = useState(0)
  const retry = useMutation({
    async mutationFn(ids: readonly string[]) {
      setDone(0)
      return retryAll(ids, () => setDone(before => before + 1))
    },
    onSuccess({ started }) {
      onChoose([])
      onStarted(started)
    },
    onSettled: () => queries.invalidateQueries({ queryKey: ['deliveries'] }),
  })
  const all = selected.length === retriable.length
  const refused = retry.data?.refused ?? []
  return (
    <>
      <Group gap="xs" role="group" aria-label="Selection">
        {retriable.length > 0 && (
          <>
            <Button
              size="xs"
              variant="default"
              disabled={retry.isPending}
              onClick={() => onChoose(all ? [] : retriable)}
            >
              {all ? 'Select none' : `Select the ${retriable.length} on this page that can be retried`}
            </Button>
            <Button
              size="xs"
              disabled={selected.length === 0}
              loading={retry.isPending}
              onClick={() => retry.mutate(selected.map(({ id }) => id))}
            >
              {selected.length === 0 ? 'Retry selected' : `Retry ${selected.length} selected`}
            </Button>
          </>
        )}
        <Text size="sm" role="status">
          {retry.isPending && `${done} of ${retry.variables.length} retries started`}
        </Text>
      </Group>
      {refused.length > 0 && (
        <Alert
          color="orange"
          role="alert"
          title={`${refused.length} of ${retry.variables?.length} retries refused`}
          withCloseButton
          closeButtonLabel="Dismiss"
          onClose={retry.reset}
        >
          {[...new Set(refused)].join('. ')}
        </Alert>
      )}
    </>
  )
}

/**
 * Retries deliveries, some at a time: the REST interface retries one with each request.
 * @returns the deliveries whose retry has started, and why the others were refused, for each of them
 */
async function retryAll(ids: readonly string[], onEach: () => void) {
  const started: Delivery[] = []
  const refused: string[] = []
  const waiting = ids.values()
  const { signal } = new AbortController()
  const work = async () => {
    for (const request_id of waiting) {
      await whenAdmitted(() => answer(client.retryDelivery({ request_id })), signal).then(
        delivery => started.push(delivery),
        error => refused.push(asProblem(error).title),
      )
      onEach()
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
  return { started, refused }
}
