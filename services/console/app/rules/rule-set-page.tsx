import '../more-styles.ts'
import { Button, Group, Stack, Text, Title } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useRef } from 'react'
import { answer, client, tagged } from '../http/client.ts'
import { queries } from '../http/queries.ts'
import type { Schemas } from '../http/schemas.ts'
import { useAllowed } from '../http/session.ts'
import { ConfirmDialog } from '../parts/confirm-dialog.tsx'
import { useEdited } from '../parts/edited.tsx'
import { requireFields } from '../parts/field-errors.ts'
import { UnsavedGuard } from '../parts/leave-guards.tsx'
import { notifyDone } from '../parts/notify.ts'
import { FormProblem, ProblemPanel } from '../parts/problem-panel.tsx'
import { Split } from '../parts/split.tsx'
import { Loading } from '../parts/states.tsx'
import type { Stored } from '../parts/three-way.ts'
import { Trail } from '../parts/trail.tsx'
import { useErrorFocus } from '../parts/use-error-focus.ts'
import { EffectiveRules } from './effective-rules.tsx'
import { ruleSetQuery } from './reads.ts'
import { RulePreview } from './rule-preview.tsx'
import { bodyOf, draftOf, errorsOf, FIELDS, LABELS, type RuleSetDraft, textOf } from './rule-set-draft.ts'
import { RuleSetFields } from './rule-set-fields.tsx'
import { Applied } from './rule-sets-page.tsx'

const route = getRouteApi('/inside/rule-sets/$ruleSetId')

/** One rule set, which administrators change or delete. */
export function RuleSetPage() {
  const { ruleSetId } = route.useParams()
  const mayWrite = useAllowed('RULE_SETS_WRITE')
  const read = useQuery(ruleSetQuery(ruleSetId))
  const { data } = read
  return (
    <Stack>
      <Trail to="/rule-sets" label="Rule sets" page={data?.body.name ?? 'Rule set'} />
      <Title order={1} size="h2">
        {data?.body.name ?? 'Rule set'}
      </Title>
      {read.isPending && <Loading what="the rule set" />}
      {read.isError && (
        <ProblemPanel
          what="The rule set cannot be shown"
          error={read.error}
          onRetry={() => void read.refetch()}
        />
      )}
      {data && (
        <>
          <Group gap={6}>
            <Text size="sm">Applied:</Text>
            <Applied progress={data.body.progress} />
          </Group>
          {mayWrite ? (
            <RuleSetForm key={ruleSetId} ruleSet={data.body} etag={data.etag} />
          ) : (
            <RuleSetFields draft={draftOf(data.body)} errors={{}} onChange={() => {}} readOnly />
          )}
          <EffectiveRules ruleSet={data.body} />
        </>
      )}
    </Stack>
  )
}

type StoredRuleSet = Stored<RuleSetDraft>

async function put(id: string, draft: RuleSetDraft, etag: string): Promise<StoredRuleSet> {
  requireFields(draft, 'name', 'kinds', 'content')
  const saved = await tagged(
    client.updateRuleSet({ rule_set_id: id, body: bodyOf(draft) }, { ifMatch: etag }),
  )
  queries.setQueryData(['rule sets', id], saved)
  return { draft: draftOf(saved.body), etag: saved.etag }
}

async function readAgain(id: string): Promise<StoredRuleSet> {
  const { body, etag } = await tagged(client.getRuleSet({ rule_set_id: id }))
  return { draft: draftOf(body), etag }
}

function RuleSetForm({ ruleSet, etag }: { ruleSet: Schemas['RuleSet']; etag: string }) {
  const { id, builtIn } = ruleSet
  const form = useRef<HTMLFormElement>(null)
  const { base, draft, setDraft, save, saving, comparison } = useEdited({
    opened: { draft: draftOf(ruleSet), etag },
    put: (mine, ifMatch) => put(id, mine, ifMatch),
    read: () => readAgain(id),
    onSaved({ name }) {
      notifyDone(`${name} is saved`)
      return queries.invalidateQueries({ queryKey: ['rule sets'] })
    },
    what: 'rule set',
    labels: LABELS,
    textOf,
  })
  useErrorFocus(form, saving.error)
  const mayPreview = useAllowed('API_READ') && !builtIn
  const unchanged = JSON.stringify(draft) === JSON.stringify(base.draft)
  return (
    <>
      <Split
        list={
          <form
            ref={form}
            noValidate
            onSubmit={event => {
              event.preventDefault()
              save()
            }}
          >
            <Stack>
              <RuleSetFields
                draft={draft}
                errors={errorsOf(saving.error)}
                onChange={setDraft}
                builtIn={builtIn}
              />
              <FormProblem what="The rule set is not saved" error={saving.error} fields={FIELDS} />
              <Group>
                <Button type="submit" loading={saving.isPending} disabled={unchanged}>
                  Save
                </Button>
              </Group>
            </Stack>
          </form>
        }
        detail={mayPreview && <RulePreview draft={draft} ruleSet={id} />}
      />
      {!builtIn && (
        <Group>
          <DeleteRuleSet id={id} name={ruleSet.name} etag={base.etag} />
        </Group>
      )}
      {comparison}
      <UnsavedGuard unsaved={!unchanged} />
    </>
  )
}

function DeleteRuleSet({ id, name, etag }: { id: string; name: string; etag: string }) {
  const navigate = route.useNavigate()
  const [asked, ask] = useDisclosure()
  const remove = async () => {
    await answer(client.deleteRuleSet({ rule_set_id: id }, { ifMatch: etag }))
    notifyDone(`${name} is deleted`)
    await navigate({ to: '/rule-sets', ignoreBlocker: true })
    await queries.invalidateQueries({ queryKey: ['rule sets'] })
  }
  return (
    <>
      <Button variant="default" c="red" onClick={ask.open}>
        Delete
      </Button>
      {asked && (
        <ConfirmDialog
          title={`Delete ${name}?`}
          action="Delete rule set"
          failed="The rule set is not deleted"
          color="red"
          onConfirm={remove}
          onClose={ask.close}
        >
          <Text size="sm">Its findings are removed from all documents.</Text>
        </ConfirmDialog>
      )}
    </>
  )
}
