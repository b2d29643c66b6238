import { z } from 'zod'
import { documentName, Finding } from './documents.ts'
import { operation } from './operation.ts'
import { label, optional, pageOf, paging, Timestamp, text, Uuid } from './primitives.ts'

/** Id of the rule set that always exists. */
export const DEFAULT_RULE_SET = '00000000-0000-4000-8000-000000000001'
/** Maximum rule sets beside the built-in one. */
export const MAX_RULE_SETS = 50
/** Kinds of documents that rules exist for. */
const RuleSetKind = z.enum(['openapi', 'asyncapi']).meta({ id: 'RuleSetKind' })
export const RULE_SET_KINDS = RuleSetKind.options

const fields = {
  name: label(100),
  kinds: z
    .array(RuleSetKind)
    .min(1)
    .default([...RULE_SET_KINDS])
    .transform(kinds => [...new Set(kinds)])
    .meta({ description: 'Kinds of the documents that it applies to' }),
  content: text(32_768, 1).meta({
    description:
      'YAML or JSON in the format of the rules in redocly.yaml: `extends` with names of built-in sets, `rules`, and `oas2Rules`, `oas3_0Rules`, `oas3_1Rules`, `oas3_2Rules`, `async2Rules`, `async3Rules`. References to files and URLs, and plugins are refused',
  }),
}

export const RuleSetInput = z
  .object({
    ...fields,
    description: optional(text(1000)),
    enabled: z.boolean().default(true).meta({ description: 'Whether it applies to documents' }),
  })
  .meta({ id: 'RuleSetInput' })
export type RuleSetInput = z.infer<typeof RuleSetInput>

export const RuleSetSnapshot = z.object({
  id: z.uuid(),
  name: z.string(),
  description: z.string().nullable(),
  enabled: z.boolean(),
  kinds: z.array(RuleSetKind),
  content: z.string(),
  builtIn: z.boolean().meta({ description: 'Whether its kinds and content cannot be changed' }),
  createdAt: Timestamp.nullable().meta({ description: 'Null for the built-in set until it is changed' }),
  updatedAt: Timestamp.nullable(),
  updatedBy: z.string().nullable().meta({ description: 'Id of the user' }),
})
export type RuleSetSnapshot = z.infer<typeof RuleSetSnapshot>

export const RuleSetRecord = RuleSetSnapshot.extend({
  progress: z
    .object({
      linted: z.int().meta({ description: 'Number of documents that it was applied to as it is now' }),
      total: z.int().meta({ description: 'Number of documents of its kinds' }),
    })
    .meta({ id: 'RuleSetProgress' })
    .nullable()
    .meta({ description: 'Null unless it is enabled' }),
}).meta({ id: 'RuleSet' })
export type RuleSetRecord = z.infer<typeof RuleSetRecord>

const PreviewInput = z
  .object({
    content: fields.content,
    api: Uuid.meta({ description: 'Id of the API' }),
    version: text(255, 1).meta({ description: 'Id or name of the version' }),
    document: documentName,
    ruleSet: Uuid.optional().meta({ description: 'Id of the rule set that the content would replace' }),
  })
  .meta({ id: 'RuleSetPreviewInput' })

export const RuleSetPreview = z
  .object({
    score: z.int().meta({
      description: 'The score of the document with these rules and what the other enabled rule sets found',
    }),
    errors: z.int().meta({ description: 'Number of errors that the rules find' }),
    warnings: z.int().meta({ description: 'Number of warnings that the rules find' }),
    findings: z.array(Finding.meta({ id: 'RuleFinding' })).meta({ description: 'At most 500, errors first' }),
    truncated: z.boolean().meta({ description: 'Whether there are more findings' }),
  })
  .meta({ id: 'RuleSetPreview' })
export type RuleSetPreview = z.infer<typeof RuleSetPreview>

/** A rule of a set with its severity in some formats. Other rules, and this rule in other formats, are off. */
export const EffectiveRule = z
  .object({
    name: z.string(),
    severity: Finding.shape.severity,
    formats: z
      .array(z.enum(['oas2', 'oas3_0', 'oas3_1', 'oas3_2', 'async2', 'async3']).meta({ id: 'RuleFormat' }))
      .meta({ description: 'Where the rule has this severity, as in the names of groups of rules' }),
  })
  .meta({ id: 'EffectiveRule' })
export type EffectiveRule = z.infer<typeof EffectiveRule>

const RuleSetPath = z.object({ rule_set_id: Uuid })

const bodyExample = {
  name: 'House rules',
  content: 'extends: [recommended]\nrules:\n  operation-description: warn\n',
}
const example: RuleSetRecord = {
  ...bodyExample,
  id: '3f0a8a57-3c0d-4e42-a8f7-0f3f5a3b9b07',
  description: null,
  enabled: true,
  kinds: ['openapi', 'asyncapi'],
  builtIn: false,
  progress: { linted: 120, total: 2_634 },
  createdAt: '2026-11-21T09:30:00.000Z',
  updatedAt: '2026-11-21T09:30:00.000Z',
  updatedBy: 'b7e6a1de-0c6b-4a0b-8f51-2b8d9a3c4e55',
}

const part = { service: 'media', tag: 'Rule sets' } as const

export const listRuleSets = operation('listRuleSets', 'GET /ruleSets', {
  ...part,
  summary: 'List rule sets',
  description: `The built-in one, and at most ${MAX_RULE_SETS} others. Each enabled rule set applies to all documents of its kinds.`,
  scope: 'RULE_SETS_READ',
  query: z.object(paging(['name', 'createdAt', 'updatedAt'], 'name,asc')),
  responses: { 200: { description: 'A page of rule sets', schema: pageOf(RuleSetRecord, 'RuleSetPage') } },
})

export const createRuleSet = operation('createRuleSet', 'POST /ruleSets', {
  ...part,
  summary: 'Create a rule set',
  scope: 'RULE_SETS_WRITE',
  body: RuleSetInput,
  bodyExample,
  responses: {
    201: {
      description: 'The new rule set',
      schema: RuleSetRecord,
      headers: { Location: 'Its path' },
      example,
    },
  },
  problems: ['rule-set-invalid', 'too-many-rule-sets'],
  idempotent: true,
  conditional: true,
})

export const getRuleSet = operation('getRuleSet', 'GET /ruleSets/{rule_set_id}', {
  ...part,
  summary: 'Get a rule set',
  scope: 'RULE_SETS_READ',
  params: RuleSetPath,
  responses: { 200: { description: 'The rule set', schema: RuleSetRecord, example } },
  problems: ['rule-set-not-found'],
  conditional: true,
})

export const listEffectiveRules = operation('listEffectiveRules', 'GET /ruleSets/{rule_set_id}/rules', {
  ...part,
  summary: 'List the rules that a rule set applies',
  description: 'Those of the sets that it extends included, by name. Rules that are off are left out.',
  scope: 'RULE_SETS_READ',
  params: RuleSetPath,
  responses: {
    200: {
      description: 'The rules',
      schema: z.object({ content: z.array(EffectiveRule) }).meta({ id: 'EffectiveRules' }),
      example: { content: [{ name: 'info-license', severity: 'WARNING', formats: ['oas3_0', 'oas3_1'] }] },
    },
  },
  problems: ['rule-set-not-found', 'rule-set-invalid', 'too-many-checks'],
})

export const updateRuleSet = operation('updateRuleSet', 'PUT /ruleSets/{rule_set_id}', {
  ...part,
  summary: 'Replace a rule set',
  description: 'Of the built-in one, the name, the description and `enabled` can change.',
  scope: 'RULE_SETS_WRITE',
  params: RuleSetPath,
  body: RuleSetInput,
  bodyExample,
  responses: { 200: { description: 'The rule set', schema: RuleSetRecord, example } },
  problems: ['rule-set-not-found', 'rule-set-invalid', 'rule-set-built-in', 'precondition-failed'],
  conditional: true,
})

export const deleteRuleSet = operation('deleteRuleSet', 'DELETE /ruleSets/{rule_set_id}', {
  ...part,
  summary: 'Delete a rule set',
  scope: 'RULE_SETS_WRITE',
  params: RuleSetPath,
  responses: { 204: { description: 'Deleted' } },
  problems: ['rule-set-not-found', 'rule-set-built-in', 'precondition-failed'],
  conditional: true,
})

export const previewRuleSet = operation('previewRuleSet', 'POST /ruleSets/preview', {
  ...part,
  summary: 'Apply rules to a document without saving them',
  description: 'Also requires the scope **API_READ**. Changes nothing. One preview runs at a time.',
  scope: 'RULE_SETS_WRITE',
  body: PreviewInput,
  bodyExample: {
    content: bodyExample.content,
    api: '5b1f1c9e-6d0f-4c58-9a43-9d6b8c2a7e10',
    version: '1.2.0',
    document: 'openapi.yaml',
  },
  responses: {
    200: {
      description: 'What the rules find',
      schema: RuleSetPreview,
      example: {
        score: 98,
        errors: 0,
        warnings: 1,
        findings: [
          {
            severity: 'WARNING',
            code: 'operation-description',
            message: 'Operation object should contain `description` field.',
            line: 12,
            column: 5,
            pointer: '/paths/~1pets/get/description',
          },
        ],
        truncated: false,
      },
    },
  },
  problems: [
    'rule-set-invalid',
    'api-not-found',
    'version-not-found',
    'document-not-found',
    'too-many-checks',
  ],
})
