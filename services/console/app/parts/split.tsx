import { Button } from '@mantine/core'
import { type ReactNode, useEffect, useRef } from 'react'
import classes from './split.module.css'

const PHONE = '(max-width: 48em)'

interface SplitProps {
  list: ReactNode
  detail: ReactNode
  /** Id of what is selected. A phone has its details above the list, as high as the screen, and scrolls to them. */
  selected?: string | undefined
  /** Leads from the details of what is selected back to the list. */
  onBack?(): void
}

/** A list, with what is selected in it beside it; other details are below it on a narrow screen. */
export function Split({ list, detail, selected, onBack }: SplitProps) {
  const shown = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (selected && matchMedia(PHONE).matches) shown.current?.scrollIntoView({ block: 'start' })
  }, [selected])
  return (
    <div
      className={classes.split}
      data-detail={detail ? true : undefined}
      data-selects={onBack ? true : undefined}
    >
      <div>{list}</div>
      {detail && (
        <div ref={shown} className={classes.detail}>
          {onBack && (
            <Button hiddenFrom="sm" variant="default" size="xs" mb="xs" onClick={onBack}>
              Back to the list
            </Button>
          )}
          {detail}
        </div>
      )}
    </div>
  )
}
