import { Button, Group, Paper, Stack, Text, Title } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { answer, client } from '../../http/client.ts'
import { asProblem } from '../../http/problem.ts'
import type { Schemas } from '../../http/schemas.ts'
import { ConfirmDialog } from '../../parts/confirm-dialog.tsx'
import { useIdempotencyKey } from '../../parts/idempotency.ts'
import { ProblemPanel } from '../../parts/problem-panel.tsx'
import { TimeField } from '../../parts/time-field.tsx'

const DAY_MS = 86_400_000

interface Range {
  from: string | undefined
  to: string | undefined
}

type Plan = Schemas['RecoveryPlan'] & { body: Schemas['RecoveryInput'] }

const lastDay = (): Range => ({ from: new Date(Date.now() - DAY_MS).toISOString(), to: undefined })

/** Starts a recovery of the events in a time range. */
export function RecoveryForm({ webhookId, running }: { webhookId: string; running: boolean }) {
  const queries = useQueryClient()
  const [range, setRange] = useState(lastDay)
  const keys = useIdempotencyKey()
  const change = (changes: Partial<Range>) => setRange(before => ({ ...before, ...changes }))
  const [plan, setPlan] = useState<Plan>()
  const start = useMutation({
    mutationFn: async (body: Schemas['RecoveryInput']) => {
      const planned = await answer(client.recoverWebhook({ webhook_id: webhookId, dryRun: true, body }))
      return { ...(planned as Schemas['RecoveryPlan']), body }
    },
    onSuccess: setPlan,
  })
  const recover = async (body: Schemas['RecoveryInput']) => {
    await answer(client.recoverWebhook({ webhook_id: webhookId, body }, { idempotencyKey: keys.for(body) }))
    keys.done()
    await queries.invalidateQueries({ queryKey: ['recoveries', webhookId] })
  }
  const errors = (start.isError && asProblem(start.error).errors) || []
  const errorAt = (field: string) => errors.find(error => error.field === field)?.message
  const submit = (event: FormEvent) => {
    event.preventDefault()
    const { from, to } = range
    if (from !== undefined) start.mutate({ from, ...(to !== undefined && { to }) })
  }
  return (
    <>
      <Paper withBorder p="md" component="form" onSubmit={submit} aria-labelledby="start-recovery">
        <Stack gap="sm">
          <Title order={2} size="h4" id="start-recovery">
            Deliver missed events
          </Title>
          <Text size="sm">
            Events that the webhook did not get, because it was inactive or did not exist, are delivered now.
            Deliveries that were given up are retried. Those that succeeded, are pending or were cancelled
            stay as they are.
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
              label="Until"
              isEnd
              description="Now, if it is empty"
              value={range.to}
              error={errorAt('to')}
              onChange={to => change({ to })}
            />
          </Group>
          {start.isError && errors.length === 0 && (
            <ProblemPanel what="The recovery is not started" error={start.error} />
          )}
          <Group>
            <Button type="submit" loading={start.isPending} disabled={running}>
              Start recovery
            </Button>
            {running && <Text size="sm">One recovery of a webhook runs at a time.</Text>}
          </Group>
        </Stack>
      </Paper>
      {/* Outside the form, which would get the submission of the dialog. */}
      {plan && (
        <PlanDialog plan={plan} onConfirm={() => recover(plan.body)} onClose={() => setPlan(undefined)} />
      )}
    </>
  )
}

interface PlanDialogProps {
  plan: Plan
  onConfirm: () => Promise<unknown>
  onClose: () => void
}

/** Says how many events a recovery sends before it begins. */
function PlanDialog({ plan: { examined, toSend }, onConfirm, onClose }: PlanDialogProps) {
  const events = (count: number) => `${count.toLocaleString('en')} ${count === 1 ? 'event' : 'events'}`
  return (
    <ConfirmDialog
      title={toSend === 0 ? 'There is nothing to send' : `Send ${events(toSend)}?`}
      action={`Send ${events(toSend)}`}
      failed="The recovery is not started"
      disabled={toSend === 0}
      onConfirm={onConfirm}
      onClose={onClose}
    >
      <Text size="sm">
        The webhook asks for {events(examined)} of this time. {toSend === 0 ? 'All of them' : 'The others'}{' '}
        have arrived, are pending or were cancelled.
      </Text>
    </ConfirmDialog>
  )
}
