import { Button } from '@mantine/core'
import { Empty } from './states.tsx'

/** Whether a page is after the last one of a list that has items. */
export const isBeyondEnd = (page: { content: readonly unknown[]; totalElements: number }): boolean =>
  page.content.length === 0 && page.totalElements > 0

/** A page after the last one of a list, e.g. after its last item was deleted. */
export function EmptyPage({ onFirst }: { onFirst: () => void }) {
  return (
    <Empty title="The list has fewer pages">
      <Button variant="default" onClick={onFirst}>
        Show the first page
      </Button>
    </Empty>
  )
}
