import { Anchor, Container } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { ProblemPanel } from '../parts/problem-panel.tsx'
import { Empty } from '../parts/states.tsx'

/** A path that the console does not have. */
export function NotFound() {
  return (
    <Empty title="There is no such page">
      <Anchor component={Link} to="/apis">
        Go to the APIs
      </Anchor>
    </Empty>
  )
}

/** A page that cannot be shown. */
export function PageFailed({ error, reset }: { error: unknown; reset: () => void }) {
  return (
    <Container p="md">
      <ProblemPanel what="The page cannot be shown" error={error} onRetry={reset} />
    </Container>
  )
}
