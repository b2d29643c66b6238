import { Anchor, Checkbox, Group, Stack, Switch, Text, Textarea, TextInput } from '@mantine/core'
import { CodeBlock } from '../parts/copy.tsx'
import { RuleChooser } from './rule-chooser.tsx'
import { KINDS, LABELS, type RuleSetDraft } from './rule-set-draft.ts'

interface RuleSetFieldsProps {
  draft: RuleSetDraft
  errors: Readonly<Record<string, string>>
  onChange: (draft: RuleSetDraft) => void
  /** Whether kinds and rules cannot be changed. */
  builtIn?: boolean
  readOnly?: boolean
}

/** The fields of a rule set. */
export function RuleSetFields({ draft, errors, onChange, builtIn, readOnly }: RuleSetFieldsProps) {
  const set = (change: Partial<RuleSetDraft>) => onChange({ ...draft, ...change })
  const fixed = builtIn || readOnly || false
  return (
    <Stack>
      {!fixed && (
        <TextInput
          label={LABELS.name}
          required
          value={draft.name}
          error={errors.name}
          onChange={event => set({ name: event.currentTarget.value })}
        />
      )}
      {readOnly ? (
        <Text size="sm">{draft.description}</Text>
      ) : (
        <TextInput
          label={LABELS.description}
          value={draft.description}
          error={errors.description}
          onChange={event => set({ description: event.currentTarget.value })}
        />
      )}
      <Switch
        label={LABELS.enabled}
        description="Its findings count in the scores of documents."
        disabled={readOnly ?? false}
        checked={draft.enabled}
        onChange={event => set({ enabled: event.currentTarget.checked })}
      />
      <Checkbox.Group
        label={LABELS.kinds}
        value={draft.kinds}
        error={errors.kinds}
        onChange={chosen =>
          set({ kinds: KINDS.map(({ value }) => value).filter(value => chosen.includes(value)) })
        }
      >
        <Group mt={4}>
          {KINDS.map(({ value, label }) => (
            <Checkbox key={value} value={value} label={label} disabled={fixed} />
          ))}
        </Group>
      </Checkbox.Group>
      {!fixed && <RuleChooser content={draft.content} onChange={content => set({ content })} />}
      {fixed && (
        <div>
          <Text size="sm" fw={600}>
            {LABELS.content}
          </Text>
          {builtIn && (
            <Text size="xs" mb={6}>
              Name and rules of the built-in set cannot be changed here. Create a set of your own beside it,
              or switch this one off.
            </Text>
          )}
          <CodeBlock label={LABELS.content} text={draft.content} maxHeight={480} />
        </div>
      )}
      {!fixed && (
        <Content value={draft.content} error={errors.content} onChange={content => set({ content })} />
      )}
    </Stack>
  )
}

interface ContentProps {
  value: string
  error: string | undefined
  onChange: (content: string) => void
}

const Content = ({ value, error, onChange }: ContentProps) => (
  <Textarea
    label={LABELS.content}
    description={
      <>
        YAML or JSON with <code>extends</code> and <code>rules</code>, as in{' '}
        <Anchor
          inherit
          underline="always"
          href="https://redocly.com/docs/cli/rules/built-in-rules"
          target="_blank"
          rel="noreferrer"
        >
          Redocly’s rules
        </Anchor>
        . Sets may extend built-in ones; files, URLs and code are refused.
      </>
    }
    required
    value={value}
    error={error}
    onChange={event => onChange(event.currentTarget.value)}
    autosize
    minRows={10}
    maxRows={30}
    spellCheck={false}
    styles={{
      input: { fontFamily: 'var(--mantine-font-family-monospace)' },
      error: { whiteSpace: 'pre-line' },
    }}
  />
)
