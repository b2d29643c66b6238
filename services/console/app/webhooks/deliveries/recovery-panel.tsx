import '../../more-styles.ts'
import { Button, Group, Paper, Progress, Stack, Text, Title } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { answer, client } from '../../http/client.ts'
import { useAllowed } from '../../http/session.ts'
import { secondOf } from '../../parts/local-time.ts'
import { Pages } from '../../parts/pagination.tsx'
import { ProblemPanel } from '../../parts/problem-panel.tsx'
import { StateBadge, toneOf } from '../../parts/state-badge.tsx'
import { Loading } from '../../parts/states.tsx'
import { Time } from '../../parts/time.tsx'
import { RecoveryForm } from './recovery-form.tsx'
import { type Recovery, recoveriesQuery } from './recovery-queries.ts'

/** Starts recoveries of a webhook and shows their progress. */
export function RecoveryPanel({ webhookId }: { webhookId: string }) {
  const mayChange = useAllowed('WEBHOOKS_WRITE')
  const [page, setPage] = useState(1)
  const list = useQuery(recoveriesQuery(webhookId, page))
  const running = list.data?.content.some(({ status }) => status === 'RUNNING') ?? false
  return (
    <Stack maw={960}>
      {mayChange && <RecoveryForm webhookId={webhookId} running={running} />}
      <Title order={2} size="h4">
        Recoveries
      </Title>
      {list.isPending && <Loading what="the recoveries" />}
      {list.isError && (
        <ProblemPanel
          what="The recoveries cannot be listed"
          error={list.error}
          onRetry={() => list.refetch()}
        />
      )}
      {list.data?.content.length === 0 && <Text size="sm">There was no recovery of this webhook yet.</Text>}
      {list.data?.content.map(recovery => (
        <RecoveryCard key={recovery.id} recovery={recovery} mayCancel={mayChange} />
      ))}
      {list.data && <Pages what="recoveries" page={list.data} onPage={setPage} />}
    </Stack>
  )
}

const STATUS: Readonly<Record<Recovery['status'], { label: string; color: string }>> = {
  RUNNING: { label: 'Running', color: 'blue' },
  COMPLETED: { label: 'Completed', color: 'teal' },
  CANCELLED: { label: 'Cancelled', color: 'gray' },
}

const percent = new Intl.NumberFormat('en', { style: 'percent', maximumFractionDigits: 0 })

function RecoveryCard({ recovery, mayCancel }: { recovery: Recovery; mayCancel: boolean }) {
  const { from, to, status, progress, total, examined, recovered, createdAt } = recovery
  const { label, color } = STATUS[status]
  const range = `${secondOf(from)} – ${secondOf(to)}`
  return (
    <Paper withBorder p="md" component="section" aria-label={`Recovery of ${range}`}>
      <Stack gap="xs">
        <Group justify="space-between">
          <Group gap="sm">
            <Text fw={500}>{range}</Text>
            <StateBadge color={color}>{label}</StateBadge>
          </Group>
          {mayCancel && status === 'RUNNING' && <CancelButton recovery={recovery} />}
        </Group>
        <Progress
          value={progress * 100}
          color={toneOf(color)}
          animated={status === 'RUNNING'}
          aria-label={`Progress of the recovery of ${range}`}
        />
        <Group gap="md">
          <Text size="sm" role="status">
            {total === null
              ? 'The events are being counted'
              : `${examined.toLocaleString('en')} of ${total.toLocaleString('en')} events examined (${percent.format(progress)})`}
          </Text>
          <Text size="sm">{recovered.toLocaleString('en')} sent</Text>
          <Text size="sm">
            Started <Time at={createdAt} />
          </Text>
        </Group>
      </Stack>
    </Paper>
  )
}

function CancelButton({ recovery: { id, webhook } }: { recovery: Recovery }) {
  const queries = useQueryClient()
  const cancel = useMutation({
    mutationFn: () => answer(client.cancelRecovery({ webhook_id: webhook, recovery_id: id })),
    onSettled: () => queries.invalidateQueries({ queryKey: ['recoveries', webhook] }),
  })
  return (
    <>
      <Button size="xs" variant="default" loading={cancel.isPending} onClick={() => cancel.mutate()}>
        Cancel
      </Button>
      {cancel.isError && <ProblemPanel what="The recovery is not cancelled" error={cancel.error} />}
    </>
  )
}
