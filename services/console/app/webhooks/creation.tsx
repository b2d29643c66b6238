import { Alert, Button, Code, Group, Stack, Stepper, Title } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { type FormEvent, type ReactNode, type RefObject, useEffect, useRef, useState } from 'react'
import { answer, client } from '../http/client.ts'
import { queries } from '../http/queries.ts'
import type { Schemas } from '../http/schemas.ts'
import { session } from '../http/session.ts'
import { fieldErrors } from '../parts/field-errors.ts'
import { useIdempotencyKey } from '../parts/idempotency.ts'
import { UnsavedGuard } from '../parts/leave-guards.tsx'
import { FormProblem } from '../parts/problem-panel.tsx'
import { useErrorFocus } from '../parts/use-error-focus.ts'
import { Created } from './created.tsx'
import classes from './creation.module.css'
import { type Draft, FIELDS, inputOf, LABELS } from './draft.ts'
import { EndpointFields } from './endpoint-fields.tsx'
import { EventPicker } from './event-picker.tsx'

/** The event types are on another step. */
const { eventTypes: _, ...OF_ENDPOINT } = LABELS

const route = getRouteApi('/inside/webhooks/new')

interface CreationProps {
  /** The API whose page has led here. */
  api: Schemas['Api'] | undefined
  types: readonly Schemas['EventType'][]
}

/** The steps of the creation. What was typed stays when a step or a request fails. */
export function Creation({ api, types }: CreationProps) {
  const { step = 'events' } = route.useSearch()
  const navigate = route.useNavigate()
  const [first] = useState(() => firstDraft(api, types))
  const [draft, setDraft] = useState(first)
  const create = useCreation(draft)
  const form = useRef<HTMLFormElement>(null)
  useErrorFocus(form, create.error)
  const [refused, refuse] = useRefusal(form)
  const goTo = (next: typeof step) =>
    navigate({ search: { api: api?.id, step: next === 'events' ? undefined : next } })
  const chosen = draft.eventTypes.length > 0
  const change = (changes: Partial<Draft>) => setDraft({ ...draft, ...changes })
  // Without event types the address of the second step shows the first one.
  const active = create.data ? 2 : step === 'endpoint' && chosen ? 1 : 0
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (create.data) return
    if (active === 1) create.mutate()
    else if (chosen) goTo('endpoint')
    else refuse()
  }
  const typesError =
    refused && !chosen ? 'Select at least one event type' : fieldErrors(create.error, FIELDS).eventTypes
  return (
    <form noValidate ref={form} onSubmit={submit}>
      <UnsavedGuard unsaved={draft !== first && !create.data} />
      <Stepper
        active={active}
        onStepClick={index => goTo(index === 0 ? 'events' : 'endpoint')}
        allowNextStepsSelect={false}
        size="sm"
        iconSize={28}
        wrap={false}
        classNames={{ step: classes.step ?? '', stepBody: classes.body ?? '' }}
      >
        <Stepper.Step label="Events" allowStepSelect={active === 1}>
          <Stack>
            <Title order={2} size="h4">
              Which events should it receive?
            </Title>
            {api && <AboutApi api={api} />}
            <EventPicker
              selected={draft.eventTypes}
              onChange={eventTypes => change({ eventTypes })}
              error={typesError}
            />
            <Buttons>
              <Button type="submit">Continue</Button>
            </Buttons>
          </Stack>
        </Stepper.Step>
        <Stepper.Step label="Endpoint">
          <Stack>
            <Title order={2} size="h4">
              Where should they be sent?
            </Title>
            <EndpointFields draft={draft} onChange={change} error={create.error} />
            <FormProblem
              what="The webhook was not created"
              error={create.error}
              fields={{ labels: OF_ENDPOINT }}
            />
            <Buttons>
              <Button variant="default" onClick={() => goTo('events')}>
                Back
              </Button>
              <Button type="submit" loading={create.isPending}>
                Create webhook
              </Button>
            </Buttons>
          </Stack>
        </Stepper.Step>
        <Stepper.Step label="Verify and test">
          {create.data && <Created webhook={create.data} />}
        </Stepper.Step>
      </Stepper>
    </form>
  )
}

/** Whether the first step was refused. Its message is at the top of a list that is longer than the window: it is shown each time. */
function useRefusal(form: RefObject<HTMLElement | null>) {
  const [count, setCount] = useState(0)
  useEffect(() => {
    if (count > 0) form.current?.querySelector('[role=alert]')?.scrollIntoView({ block: 'center' })
  }, [form, count])
  return [count > 0, () => setCount(count + 1)] as const
}

/** Creates the webhook. The answer has the secret, which is not kept in the cache. */
function useCreation(draft: Draft) {
  const keys = useIdempotencyKey()
  return useMutation({
    mutationFn: async () => {
      const body = inputOf(draft)
      return answer(client.createWebhook({ body }, { idempotencyKey: keys.for(body) }))
    },
    gcTime: 0,
    onSuccess: () => {
      keys.done()
      queries.invalidateQueries({ queryKey: ['webhooks', 'list'] })
    },
  })
}

/** Stays at the lower edge of the window while the step is longer than it. */
function Buttons({ children }: { children: ReactNode }) {
  return (
    <Group
      justify="flex-end"
      py="sm"
      pos="sticky"
      bottom={0}
      bg="var(--mantine-color-body)"
      style={{ borderTop: '1px solid var(--mantine-color-default-border)', zIndex: 1 }}
    >
      {children}
    </Group>
  )
}

function AboutApi({ api }: { api: Schemas['Api'] }) {
  return (
    <Alert title={`Events of APIs are selected for ${api.displayName}`}>
      A webhook receives the events of all APIs. The receiver of this one can keep those whose data name the
      id <Code>{api.id}</Code>.
    </Alert>
  )
}

function firstDraft(api: CreationProps['api'], types: CreationProps['types']): Draft {
  const scopes = session.current()?.scopes ?? []
  const ofApis = types.filter(({ name, scope }) => name.startsWith('API_') && scopes.includes(scope))
  return {
    displayName: api ? `Events of ${api.displayName}` : '',
    name: '',
    url: '',
    eventTypes: api ? ofApis.map(({ name }) => name) : [],
    ordered: false,
    format: 'STANDARD',
    active: true,
  }
}
