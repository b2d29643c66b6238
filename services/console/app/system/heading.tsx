import { Button, Group, Title } from '@mantine/core'
import { Link } from '@tanstack/react-router'

const PAGES = [
  { to: '/system', title: 'System', label: 'State' },
  { to: '/system/keys', title: 'Signing keys', label: 'Signing keys' },
] as const

/** The heading of the pages about the system, with links between them. */
export function SystemHeading({ title }: { title: (typeof PAGES)[number]['title'] }) {
  return (
    <Group justify="space-between">
      <Title order={1} size="h2">
        {title}
      </Title>
      <Group component="nav" gap="xs" aria-label="Pages of the system">
        {PAGES.map(({ to, label, title: own }) => (
          <Button
            key={to}
            size="xs"
            c="var(--mantine-color-text)"
            variant={own === title ? 'light' : 'default'}
            renderRoot={props => (
              <Link
                to={to}
                activeOptions={{ exact: true }}
                activeProps={{ 'aria-current': 'page' }}
                {...props}
              />
            )}
          >
            {label}
          </Button>
        ))}
      </Group>
    </Group>
  )
}
