import { queryOptions } from '@tanstack/react-query'
import { answer, client, tagged } from '../http/client.ts'
import type { Schemas } from '../http/schemas.ts'
import { KINDS } from './rule-set-draft.ts'

const PROGRESS_MS = 2_000
/** More than there can be. */
const SIZE = 100

const isBeingApplied = ({ progress }: Schemas['RuleSet']): boolean =>
  progress !== null && progress.linted < progress.total

/** All rule sets; read again while one of them is being applied. */
export const ruleSetsQuery = queryOptions({
  queryKey: ['rule sets'],
  queryFn: ({ signal }) => answer(client.listRuleSets({ size: SIZE }, { signal })),
  refetchInterval: ({ state: { data } }) => (data?.content.some(isBeingApplied) ? PROGRESS_MS : false),
})

/** A rule set with its entity tag; read again while it is being applied. */
export const ruleSetQuery = (id: string) =>
  queryOptions({
    queryKey: ['rule sets', id],
    queryFn: ({ signal }) => tagged(client.getRuleSet({ rule_set_id: id }, { signal })),
    refetchInterval: ({ state: { data } }) => (data && isBeingApplied(data.body) ? PROGRESS_MS : false),
  })

/** The rules that a stored rule set applies, which its content decides. */
export const effectiveRulesQuery = ({ id, content }: Schemas['RuleSet']) =>
  queryOptions({
    queryKey: ['rules in effect', id, content],
    queryFn: ({ signal }) => answer(client.listEffectiveRules({ rule_set_id: id }, { signal })),
    staleTime: Number.POSITIVE_INFINITY,
  })

/** The versions of an API with the documents that rules exist for, newest first. */
export const documentsQuery = (api: string) =>
  queryOptions({
    queryKey: ['api', api, 'documents with rules'],
    queryFn: async ({ signal }) => {
      const path = { api_id: api }
      const [{ documents = [] }, { content: versions }] = await Promise.all([
        answer(client.getApi({ ...path, includeDocuments: true }, { signal })),
        answer(client.listVersions({ ...path, sort: ['createdAt,desc'], size: SIZE }, { signal })),
      ])
      const linted = documents.filter(({ kind }) => KINDS.some(({ value }) => value === kind))
      return versions
        .map(({ id, name }) => ({ id, name, documents: linted.filter(({ version }) => version === id) }))
        .filter(({ documents }) => documents.length > 0)
    },
  })
