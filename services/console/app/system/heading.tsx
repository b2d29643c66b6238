import { Title } from '@mantine/core'
import { PageTabs } from '../parts/page-tabs.tsx'

const PAGES = [
  { to: '/system', text: 'State' },
  { to: '/system/keys', text: 'Signing keys' },
] as const

/** The heading of the pages about the system, with links between them. */
export function SystemHeading({ title }: { title: 'System' | 'Signing keys' }) {
  return (
    <>
      <Title order={1} size="h2">
        {title}
      </Title>
      <PageTabs label="Pages of the system" pages={PAGES} />
    </>
  )
}
