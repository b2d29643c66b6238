import { type ReactNode, useEffect, useRef } from 'react'
import classes from './split.module.css'

/** A phone has the details below the list, out of sight. */
const PHONE = '(max-width: 48em)'

interface SplitProps {
  list: ReactNode
  detail: ReactNode
  /** Id of what is selected. A phone scrolls to its details. */
  selected?: string | undefined
}

/** A list, with what is selected in it beside it or, on a narrow screen, below it. */
export function Split({ list, detail, selected }: SplitProps) {
  const below = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (selected && matchMedia(PHONE).matches) below.current?.scrollIntoView({ block: 'start' })
  }, [selected])
  return (
    <div className={classes.split} data-detail={detail ? true : undefined}>
      <div>{list}</div>
      {detail && (
        <div ref={below} className={classes.detail}>
          {detail}
        </div>
      )}
    </div>
  )
}
