import '../more-styles.ts'
import { Alert, Button, Group, SegmentedControl, Stack, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useState } from 'react'
import { useAllowed } from '../http/session.ts'
import { webhooksQuery } from '../parts/all-webhooks.ts'
import { AnchorLink } from '../parts/links.tsx'
import { ProblemPanel } from '../parts/problem-panel.tsx'
import { Loading } from '../parts/states.tsx'
import { SystemHeading } from './heading.tsx'
import { LagPanel } from './lag-panel.tsx'
import { EVERY_MS, isBehind, KINDS, observed, type Sample, type System } from './samples.ts'
import { readSystemSearch } from './search.ts'
import { ServiceTable } from './service-table.tsx'
import { StoreTable } from './store-table.tsx'

const route = getRouteApi('/inside/system')
const clock = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium', hourCycle: 'h23' })

/** The state of the installation: services, lag and backing stores, read again every few seconds. */
export function SystemPage() {
  const { lag: unit = 'events' } = readSystemSearch({ ...route.useSearch() })
  const navigate = route.useNavigate()
  const [paused, setPaused] = useState(false)
  const state = useQuery({
    ...observed,
    refetchInterval: paused ? false : EVERY_MS,
    refetchOnWindowFocus: !paused,
  })
  return (
    <Stack gap="lg">
      <SystemHeading title="System" />
      <Group justify="space-between">
        <Text size="sm">
          {state.dataUpdatedAt > 0 && `Read at ${clock.format(state.dataUpdatedAt)}, `}
          {paused ? 'paused' : `again every ${EVERY_MS / 1_000} seconds`}
        </Text>
        <Group gap="xs">
          <Button
            size="xs"
            variant="default"
            onClick={() => void state.refetch()}
            loading={paused && state.isFetching}
          >
            Read now
          </Button>
          <Button size="xs" variant="default" aria-pressed={paused} onClick={() => setPaused(!paused)}>
            Pause
          </Button>
        </Group>
      </Group>
      {state.isPending && <Loading what="the state of the services" />}
      {state.isError && (
        <ProblemPanel
          what={state.data ? 'The state is no longer up to date' : 'The state cannot be shown'}
          error={state.error}
          onRetry={() => void state.refetch()}
        />
      )}
      {state.data && (
        <>
          <Summary system={state.data.system} />
          <Section title="Backing stores">
            <StoreTable
              stores={state.data.system.backingStores}
              services={state.data.system.services.length}
            />
          </Section>
          <Section title="Services">
            <ServiceTable services={state.data.system.services} />
          </Section>
          <Section
            title="Lag"
            side={
              <SegmentedControl
                aria-label="Unit of lag"
                value={unit}
                onChange={value =>
                  navigate({ search: value === 'seconds' ? { lag: value } : {}, replace: true })
                }
                data={[
                  { value: 'events', label: 'Events' },
                  { value: 'seconds', label: 'Seconds' },
                ]}
              />
            }
          >
            <Lags samples={state.data.samples} unit={unit} />
          </Section>
        </>
      )}
    </Stack>
  )
}

/** The lag of the components that are behind; of all of them on demand. */
function Lags({ samples, unit }: { samples: readonly Sample[]; unit: 'events' | 'seconds' }) {
  const [all, setAll] = useState(false)
  const behind = KINDS.filter(kind => isBehind(samples, kind))
  const shown = all ? KINDS : behind
  return (
    <Stack gap="sm">
      {behind.length === 0 && (
        <Text size="sm">
          Nothing is behind: lists and events follow every change within seconds, and webhooks are called.
        </Text>
      )}
      {shown.map(kind => (
        <LagPanel key={kind} kind={kind} samples={samples} unit={unit} />
      ))}
      {behind.length < KINDS.length && (
        <Group>
          <Button size="xs" variant="default" aria-expanded={all} onClick={() => setAll(!all)}>
            {all ? 'Hide what is not behind' : 'Show what is not behind'}
          </Button>
        </Group>
      )}
    </Stack>
  )
}

interface SectionProps {
  title: string
  side?: React.ReactNode
  children: React.ReactNode
}

function Section({ title, side, children }: SectionProps) {
  return (
    <Stack gap="xs">
      <Group justify="space-between">
        <Title order={2} size="h4">
          {title}
        </Title>
        {side}
      </Group>
      {children}
    </Stack>
  )
}

const Check = () => (
  <svg viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
    <path d="M2 8.5l4 4 8-9" fill="none" stroke="currentColor" strokeWidth="2" />
  </svg>
)

const WEBHOOKS_MS = 30_000

/** How many webhooks fail: a fault of their receivers, which the services do not know. */
function FailingWebhooks() {
  const { data } = useQuery({
    ...webhooksQuery,
    enabled: useAllowed('WEBHOOKS_READ'),
    refetchInterval: WEBHOOKS_MS,
  })
  const failing = data?.webhooks.filter(({ active, health }) => active && health?.failingSince).length ?? 0
  if (failing === 0) return null
  return (
    <Alert
      color="orange"
      title={failing === 1 ? 'One webhook is failing' : `${failing} webhooks are failing`}
    >
      {failing === 1 ? 'Its receiver does not accept events.' : 'Their receivers do not accept events.'}{' '}
      <AnchorLink to="/webhooks" search={{ state: 'failing' }} inherit underline="always">
        Show the failing webhooks
      </AnchorLink>
    </Alert>
  )
}

/** What is wrong at the moment, or that nothing is. */
function Summary({ system }: { system: System }) {
  const troubles = [
    ...system.services
      .filter(({ status }) => status !== 'READY')
      .map(({ name, status }) => `${name} is ${status === 'NOT_READY' ? 'not ready' : 'unavailable'}`),
    ...system.backingStores
      .filter(({ status }) => status === 'UNAVAILABLE')
      .map(({ kind, services }) => `${kind} is unavailable for ${services.join(', ')}`),
  ]
  const versions = new Set(
    system.services.flatMap(({ replicas }) => replicas.flatMap(one => one.version ?? [])),
  )
  return (
    <Stack gap="xs" role="status">
      {troubles.length === 0 ? (
        <Alert
          color="teal"
          icon={<Check />}
          title="All services are ready, and all backing stores are available."
        />
      ) : (
        <Alert color="red" title="Something needs attention">
          {troubles.join('; ')}.
        </Alert>
      )}
      <FailingWebhooks />
      {versions.size > 1 && (
        <Alert color="yellow" title="Replicas run different versions">
          {[...versions].join(', ')}. During an upgrade this is expected.
        </Alert>
      )}
    </Stack>
  )
}
