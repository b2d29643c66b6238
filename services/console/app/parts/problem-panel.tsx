import { Alert, Button, Code, Group, List, Stack, Text } from '@mantine/core'
import { adviceOn, asProblem } from '../http/problem.ts'

interface ProblemPanelProps {
  error: unknown
  /** What failed, e.g. "The APIs cannot be listed". */
  what: string
  onRetry?: (() => void) | undefined
}

/** Shows a failed request: its title, its detail, what to do, and the request id for the operator. */
export function ProblemPanel({ error, what, onRetry }: ProblemPanelProps) {
  const problem = asProblem(error)
  const advice = adviceOn(problem)
  return (
    <Alert color="red" title={`${what}: ${problem.title}`} role="alert">
      <Stack gap="xs">
        <Text size="sm">{problem.detail}</Text>
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
        {problem.requestId && (
          <Text size="sm">
            Request id <Code>{problem.requestId}</Code>
          </Text>
        )}
        {onRetry && (
          <Group>
            <Button size="xs" variant="default" onClick={onRetry}>
              Try again
            </Button>
          </Group>
        )}
      </Stack>
    </Alert>
  )
}
