import { Alert, Button, Group, Modal, Stack, Text } from '@mantine/core'
import { useDisclosure, useInterval } from '@mantine/hooks'
import { useEffect, useState } from 'react'
import { useAllowed } from '../http/session.ts'
import { ConfirmDialog } from '../parts/confirm-dialog.tsx'
import { exactTime } from '../parts/time.tsx'
import { SecretPanel } from './secret-panel.tsx'
import { useRotation } from './webhook-changes.ts'
import type { Webhook } from './webhook-queries.ts'

/** Which secrets sign the deliveries, and the rotation. */
export function SecretState({ webhook }: { webhook: Webhook }) {
  const mayChange = useAllowed('WEBHOOKS_WRITE')
  const [asking, { open, close }] = useDisclosure()
  const rotation = useRotation(webhook.id)
  const rotated = rotation.data
  return (
    <Stack gap="sm">
      {webhook.oldSecretValidUntil ? (
        <Overlap key={webhook.oldSecretValidUntil} until={webhook.oldSecretValidUntil} />
      ) : (
        <Text size="sm">One secret signs the deliveries.</Text>
      )}
      {mayChange && (
        <Group>
          <Button variant="default" onClick={open}>
            Rotate the secret
          </Button>
        </Group>
      )}
      {asking && (
        <ConfirmDialog
          onClose={close}
          title="Rotate the signing secret?"
          action="Rotate"
          // Without a result: the dialog would keep the secret in the cache.
          onConfirm={() => rotation.mutateAsync().then(() => undefined)}
          failed="The secret was not rotated"
        >
          <Text size="sm">
            A new secret is made and shown once. For 24 hours each request has two signatures, by the new and
            by the old secret: change it in the receiver within that time, and no request is refused.
          </Text>
        </ConfirmDialog>
      )}
      <Modal
        opened={rotated !== undefined}
        onClose={rotation.reset}
        title="The new signing secret"
        size="lg"
        closeOnClickOutside={false}
        closeButtonProps={{ 'aria-label': 'Close' }}
      >
        {rotated && <SecretPanel webhook={rotated} />}
      </Modal>
    </Stack>
  )
}

/** The time in which both secrets are valid, counted down. */
function Overlap({ until }: { until: string }) {
  const left = useTimeLeft(until)
  if (left <= 0) return <Text size="sm">One secret signs the deliveries. The old one has just ended.</Text>
  return (
    <Alert color="yellow" title="Two secrets are valid">
      <Text size="sm">
        Each request has a signature by the new secret and one by the old secret, which ends in{' '}
        <Text
          span
          inherit
          fw={600}
          role="timer"
          title={exactTime(until)}
          style={{ fontVariantNumeric: 'tabular-nums' }}
        >
          {leftText(left)}
        </Text>
        . Change the secret in the receiver before.
      </Text>
    </Alert>
  )
}

/** Milliseconds until a time, read every second. */
function useTimeLeft(until: string): number {
  const [now, setNow] = useState(Date.now)
  const { start, stop } = useInterval(() => setNow(Date.now()), 1_000)
  useEffect(() => {
    start()
    return stop
  }, [start, stop])
  return Date.parse(until) - now
}

function leftText(milliseconds: number): string {
  const seconds = Math.ceil(milliseconds / 1_000)
  return `${Math.floor(seconds / 3_600)} h ${Math.floor(seconds / 60) % 60} min ${seconds % 60} s`
}
