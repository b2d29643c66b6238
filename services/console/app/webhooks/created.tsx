import { Alert, Group, Stack, Text } from '@mantine/core'
import { useEffect } from 'react'
import type { Schemas } from '../http/schemas.ts'
import { ButtonLink } from '../parts/links.tsx'
import { SecretPanel } from './secret-panel.tsx'
import { Section } from './section.tsx'
import { SignatureGuide } from './signature-guide.tsx'
import { TestDelivery } from './test-delivery.tsx'

/** The last step of the creation: the secret, how to verify signatures, and a test. */
export function Created({ webhook }: { webhook: Schemas['NewWebhook'] }) {
  // The steps before it are longer, so that a person has scrolled down.
  useEffect(() => {
    scrollTo({ top: 0 })
  }, [])
  return (
    <Stack>
      <Alert color="teal" role="status" title={`${webhook.displayName} is created`}>
        {webhook.active
          ? 'It receives events from now on.'
          : 'It is inactive: it receives only tests until it is activated.'}
      </Alert>
      <Section title="Keep the secret">
        <SecretPanel webhook={webhook} />
      </Section>
      <Section title="Send a test">
        <Text size="sm">
          A delivery with the event type TEST is sent to {webhook.url} once. Its result appears here.
        </Text>
        <TestDelivery webhookId={webhook.id} />
      </Section>
      <Section title="Verify signatures in the receiver">
        <SignatureGuide />
      </Section>
      <Group justify="flex-end">
        <ButtonLink variant="default" to="/webhooks/$webhookId/edit" params={{ webhookId: webhook.id }}>
          Edit it
        </ButtonLink>
        <ButtonLink to="/webhooks/$webhookId" params={{ webhookId: webhook.id }}>
          Open the webhook
        </ButtonLink>
      </Group>
    </Stack>
  )
}
