import { Text } from '@mantine/core'
import { useVirtualizer } from '@tanstack/react-virtual'
import { useRef } from 'react'
import { AnchorLink } from '../parts/links.tsx'
import styles from './bulk-results.module.css'
import type { BulkItem } from './bulk-run.ts'

const ROW_HEIGHT = 37

const WORDS: Readonly<Record<BulkItem['result'], string>> = {
  waiting: 'Waiting',
  changed: 'Done',
  unchanged: 'Nothing to change',
  failed: 'Failed',
}

/** The result of each API, the failed ones first. */
export function BulkResults({ items }: { items: readonly BulkItem[] }) {
  const box = useRef<HTMLElement>(null)
  const failed = items.filter(({ result }) => result === 'failed')
  const ordered = [...failed, ...items.filter(({ result }) => result !== 'failed')]
  const virtual = useVirtualizer({
    count: ordered.length,
    getScrollElement: () => box.current,
    getItemKey: index => ordered[index]?.api.id ?? index,
    estimateSize: () => ROW_HEIGHT,
    overscan: 5,
  })
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard scrolls it
    <section ref={box} className={styles.box} tabIndex={0} aria-label="Results">
      <ul className={styles.list} style={{ height: virtual.getTotalSize() }}>
        {virtual.getVirtualItems().map(({ index, start }) => {
          const item = ordered[index]
          return (
            item && (
              <li
                key={item.api.id}
                ref={virtual.measureElement}
                data-index={index}
                aria-setsize={ordered.length}
                aria-posinset={index + 1}
                className={styles.item}
                style={{ transform: `translateY(${start}px)` }}
              >
                <Result item={item} />
              </li>
            )
          )
        })}
      </ul>
    </section>
  )
}

function Result({ item: { api, result, reason } }: { item: BulkItem }) {
  return (
    <>
      <span className={styles.name}>
        {result === 'failed' ? (
          <AnchorLink to="/apis/$apiId" params={{ apiId: api.id }} target="_blank" size="sm">
            {api.displayName}
          </AnchorLink>
        ) : (
          api.displayName
        )}
      </span>
      <span data-result={result} className={styles.result}>
        {WORDS[result]}
      </span>
      {reason && (
        <Text size="xs" className={styles.reason}>
          {reason}
        </Text>
      )}
    </>
  )
}
