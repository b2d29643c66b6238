import { useEffect, useState } from 'react'
import styles from './list-table.module.css'
import { ApiImage } from './page/image.tsx'
import type { Api } from './search.ts'

const SIZE = 28
/** Rows that scroll past read no image. */
const DELAY_MS = 200

/** The image of an API in a list, or else its first letter. */
export function Logo({ api: { id, hasImage, displayName } }: { api: Api }) {
  const [wanted, setWanted] = useState(false)
  useEffect(() => {
    const timer = setTimeout(() => setWanted(true), DELAY_MS)
    return () => clearTimeout(timer)
  }, [])
  return (
    <span className={styles.logo} aria-hidden>
      {hasImage ? <ApiImage id={id} size={SIZE} alt="" wanted={wanted} /> : displayName.slice(0, 1)}
    </span>
  )
}
