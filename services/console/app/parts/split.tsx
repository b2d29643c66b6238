import type { ReactNode } from 'react'
import classes from './split.module.css'

/** A list, with what is selected in it beside it or, on a narrow screen, below it. */
export function Split({ list, detail }: { list: ReactNode; detail: ReactNode }) {
  return (
    <div className={classes.split} data-detail={detail ? true : undefined}>
      <div>{list}</div>
      {detail && <div className={classes.detail}>{detail}</div>}
    </div>
  )
}
