import { Alert, Button, Group, Text } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { answer, client } from '../../http/client.ts'
import { asProblem } from '../../http/problem.ts'
import { whenAdmitted } from '../../parts/admitted.ts'
import { notifyDone } from '../../parts/notify.ts'
import type { Delivery } from './delivery-queries.ts'

const AT_ONCE = 4

interface RetryBarProps {
  retriable: readonly Delivery[]
  selected: readonly Delivery[]
  onChoose: (deliveries: readonly Delivery[]) => void
}

/** Selects the deliveries of a page that can be retried, and retries the selected ones. */
export function RetryBar({ retriable, selected, onChoose }: RetryBarProps) {
  const queries = useQueryClient()
  const [done, setDone] = useState(0)
  const retry = useMutation({
    async mutationFn(ids: readonly string[]) {
      setDone(0)
      return retryAll(ids, () => setDone(before => before + 1))
    },
    onSuccess(refused, ids) {
      if (refused.length === 0) notifyDone(retriedText(ids.length, refused))
      onChoose([])
    },
    onSettled: () => queries.invalidateQueries({ queryKey: ['deliveries'] }),
  })
  const all = selected.length === retriable.length
  const refused = retry.data ?? []
  return (
    <>
      <Group gap="xs" role="group" aria-label="Selection">
        <Button
          size="xs"
          variant="default"
          disabled={retry.isPending}
          onClick={() => onChoose(all ? [] : retriable)}
        >
          {all ? 'Select none' : `Select all ${retriable.length} that can be retried`}
        </Button>
        <Button
          size="xs"
          disabled={selected.length === 0}
          loading={retry.isPending}
          onClick={() => retry.mutate(selected.map(({ id }) => id))}
        >
          Retry {selected.length} selected
        </Button>
        <Text size="sm" role="status">
          {retry.isPending && `${done} of ${retry.variables.length} retried`}
        </Text>
      </Group>
      {refused.length > 0 && (
        <Alert
          color="orange"
          role="alert"
          title={retriedText(retry.variables?.length ?? 0, refused)}
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

/** E.g. `18 retried, 2 refused`. */
function retriedText(asked: number, refused: readonly string[]): string {
  const retried = `${asked - refused.length} retried`
  return refused.length > 0 ? `${retried}, ${refused.length} refused` : retried
}

/**
 * Retries deliveries, some at a time: the REST interface retries one with each request.
 * @returns why deliveries were refused, for each of them
 */
async function retryAll(ids: readonly string[], onEach: () => void): Promise<string[]> {
  const refused: string[] = []
  const waiting = ids.values()
  const { signal } = new AbortController()
  const work = async () => {
    for (const request_id of waiting) {
      await whenAdmitted(() => answer(client.retryDelivery({ request_id })), signal).catch(error =>
        refused.push(asProblem(error).title),
      )
      onEach()
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
  return refused
}
