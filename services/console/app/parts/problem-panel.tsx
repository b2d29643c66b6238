import { Alert, Button, Code, Group, List, Stack, Text } from '@mantine/core'
import { adviceOn, asProblem } from '../http/problem.ts'
import { type FormFields, isAtFields } from './field-errors.ts'
import { useSecondsLeft } from './seconds-left.ts'

interface ProblemPanelProps {
  error: unknown
  /** What failed, e.g. "The APIs cannot be listed". */
  what: string
  onRetry?: (() => void) | undefined
}

/**
 * Shows a failed request: its title, its detail, what to do, and the request id for the operator. When the service says
 * when it accepts the next request (Retry-After), it can be tried again only then.
 */
export function ProblemPanel({ error, what, onRetry }: ProblemPanelProps) {
  const problem = asProblem(error)
  const advice = adviceOn(problem)
  const detail = beyondTitle(problem)
  const secondsLeft = useSecondsLeft(error, problem.retryAfterSeconds)
  return (
    <Alert color="red" title={`${what}: ${problem.title}`} role="alert">
      <Stack gap="xs">
        {detail && <Text size="sm">{detail}</Text>}
        {problem.errors && (
          <List size="sm">
            {problem.errors.map(({ field, message }) => (
              <List.Item key={`${field} ${message}`}>
                <Code>{field}</Code> {message}
              </List.Item>
            ))}
          </List>
        )}
        {advice && <Text size="sm">{advice}</Text>}
        {problem.retryAfterSeconds && (
          <Text size="sm">
            {secondsLeft > 0
              ? `The service accepts the next request in ${secondsText(problem.retryAfterSeconds)}.`
              : 'You can try again now.'}
          </Text>
        )}
        {problem.requestId && (
          <Text size="sm">
            Request id <Code>{problem.requestId}</Code>
          </Text>
        )}
        {onRetry && (
          <Group>
            <Button size="xs" variant="default" onClick={onRetry} disabled={secondsLeft > 0}>
              Try again
              {/* Hidden, because a screen reader would read every second. */}
              {secondsLeft > 0 && <span aria-hidden>&nbsp;in {secondsLeft} s</span>}
            </Button>
          </Group>
        )}
      </Stack>
    </Alert>
  )
}

/** The detail without a first sentence that repeats the title. */
function beyondTitle({ title, detail }: { title: string; detail: string }): string {
  const [first = '', ...others] = detail.split(/\.(?:\s|$)/)
  return first.toLowerCase() === title.toLowerCase() ? others.join('. ').trim() : detail
}

interface FormProblemProps extends ProblemPanelProps {
  fields: FormFields
}

/** The same for a form, unless its fields say all that is wrong. */
export const FormProblem = ({ fields, ...props }: FormProblemProps) =>
  props.error !== null && !isAtFields(props.error, fields) && <ProblemPanel {...props} />

const secondsText = (seconds: number) => (seconds === 1 ? '1 second' : `${seconds} seconds`)
