import { Button, Group, Paper, Stack, Text, Title } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { answer, client } from '../../http/client.ts'
import { asProblem } from '../../http/problem.ts'
import type { Schemas } from '../../http/schemas.ts'
import { useIdempotencyKey } from '../../parts/idempotency.ts'
import { ProblemPanel } from '../../parts/problem-panel.tsx'
import { TimeField } from '../../parts/time-field.tsx'

const DAY_MS = 86_400_000

interface Range {
  from: string | undefined
  to: string | undefined
}

const lastDay = (): Range => ({ from: new Date(Date.now() - DAY_MS).toISOString(), to: undefined })

/** Starts a recovery of the events in a time range. */
export function RecoveryForm({ webhookId }: { webhookId: string }) {
  const queries = useQueryClient()
  const [range, setRange] = useState(lastDay)
  const keys = useIdempotencyKey()
  const change = (changes: Partial<Range>) => setRange(before => ({ ...before, ...changes }))
  const start = useMutation({
    mutationFn: (body: Schemas['RecoveryInput']) => {
      const header = { 'Idempotency-Key': keys.for(body) }
      const params = { path: { webhook_id: webhookId }, header }
      return answer(client.POST('/webhooks/{webhook_id}/recover', { params, body }))
    },
    onSuccess: () => {
      keys.done()
      return queries.invalidateQueries({ queryKey: ['recoveries', webhookId] })
    },
  })
  const errors = (start.isError && asProblem(start.error).errors) || []
  const errorAt = (field: string) => errors.find(error => error.field === field)?.message
  const submit = (event: FormEvent) => {
    event.preventDefault()
    const { from, to } = range
    if (from !== undefined) start.mutate({ from, ...(to !== undefined && { to }) })
  }
  return (
    <Paper withBorder p="md" component="form" onSubmit={submit} aria-labelledby="start-recovery">
      <Stack gap="sm">
        <Title order={2} size="h4" id="start-recovery">
          Deliver missed events
        </Title>
        <Text size="sm">
          Events that the webhook did not get, because it was inactive or did not exist, are delivered now.
          Deliveries that were given up are retried. Those that succeeded, are pending or were cancelled stay
          as they are.
        </Text>
        <Group align="flex-start">
          <TimeField
            label="From"
            required
            value={range.from}
            error={errorAt('from')}
            onChange={from => change({ from })}
          />
          <TimeField
            label="To"
            description="Now, if it is empty"
            inputWrapperOrder={['label', 'input', 'description', 'error']}
            value={range.to}
            error={errorAt('to')}
            onChange={to => change({ to })}
          />
        </Group>
        {start.isError && errors.length === 0 && (
          <ProblemPanel what="The recovery is not started" error={start.error} />
        )}
        <Group>
          <Button type="submit" loading={start.isPending}>
            Start recovery
          </Button>
        </Group>
      </Stack>
    </Paper>
  )
}
