import { ButtonLink } from '../parts/links.tsx'
import '../more-styles.ts'
import { Button, Group, Stack, Title } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useRef, useState } from 'react'
import { answer, client } from '../http/client.ts'
import { queries } from '../http/queries.ts'
import { useAllowed } from '../http/session.ts'
import { requireFields } from '../parts/field-errors.ts'
import { useIdempotencyKey } from '../parts/idempotency.ts'
import { UnsavedGuard } from '../parts/leave-guards.tsx'
import { notifyDone } from '../parts/notify.ts'
import { FormProblem } from '../parts/problem-panel.tsx'
import { Split } from '../parts/split.tsx'
import { Trail } from '../parts/trail.tsx'
import { useErrorFocus } from '../parts/use-error-focus.ts'
import { RulePreview } from './rule-preview.tsx'
import { bodyOf, errorsOf, FIELDS, NEW_RULE_SET, type RuleSetDraft } from './rule-set-draft.ts'
import { RuleSetFields } from './rule-set-fields.tsx'

/** Creates a rule set. */
export function NewRuleSetPage() {
  const [draft, setDraft] = useState(NEW_RULE_SET)
  const navigate = useNavigate()
  const keys = useIdempotencyKey()
  const form = useRef<HTMLFormElement>(null)
  const create = useMutation({
    mutationFn: async (draft: RuleSetDraft) => {
      requireFields(draft, 'name', 'kinds', 'content')
      const body = bodyOf(draft)
      return answer(client.createRuleSet({ body }, { idempotencyKey: keys.for(body) }))
    },
    onSuccess: async ({ id, name }) => {
      await queries.invalidateQueries({ queryKey: ['rule sets'] })
      notifyDone(`${name} is created`)
      await navigate({ to: '/rule-sets/$ruleSetId', params: { ruleSetId: id }, ignoreBlocker: true })
    },
  })
  useErrorFocus(form, create.error)
  const mayPreview = useAllowed('API_READ')
  return (
    <Stack>
      <Trail to="/rule-sets" label="Rule sets" page="Create rule set" />
      <Title order={1} size="h2">
        Create rule set
      </Title>
      <Split
        list={
          <form
            ref={form}
            noValidate
            onSubmit={event => {
              event.preventDefault()
              create.mutate(draft)
            }}
          >
            <Stack>
              <RuleSetFields draft={draft} errors={errorsOf(create.error)} onChange={setDraft} />
              <FormProblem what="The rule set is not created" error={create.error} fields={FIELDS} />
              <Group>
                <Button type="submit" loading={create.isPending}>
                  Create rule set
                </Button>
                <ButtonLink variant="default" to="/rule-sets">
                  Cancel
                </ButtonLink>
              </Group>
            </Stack>
          </form>
        }
        detail={mayPreview && <RulePreview draft={draft} />}
      />
      <UnsavedGuard unsaved={draft !== NEW_RULE_SET} />
    </Stack>
  )
}
