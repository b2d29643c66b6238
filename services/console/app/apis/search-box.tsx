import { Button, Loader, TextInput } from '@mantine/core'
import { type KeyboardEvent, useId, useState } from 'react'
import { forgetSearches, keepSearch, useRecentSearches } from '../parts/recent-searches.ts'
import { useTypedText } from '../parts/typed-text.ts'
import styles from './search-box.module.css'

interface SearchBoxProps {
  /** The text in the URL. */
  value: string | undefined
  searching: boolean
  onChange(value: string | undefined): void
  /** Moves to the first result. */
  onResults(): void
}

/**
 * The search of the catalogue, which takes effect while the person types. Without a text it proposes the recent searches:
 * the arrow keys choose, Enter takes one. With a text Enter and Arrow Down go to the results, and Escape clears it.
 */
export function SearchBox({ value, searching, onChange, onResults }: SearchBoxProps) {
  const [typed, change] = useTypedText(value, onChange)
  const recent = useRecentSearches()
  const [opened, setOpened] = useState(false)
  const [chosen, setChosen] = useState(-1)
  const list = useId()
  const proposes = opened && typed === '' && recent.length > 0
  const take = (text: string) => {
    change(text)
    keepSearch(text)
    setOpened(false)
  }
  const act = (key: string): boolean => {
    if (proposes && key === 'ArrowDown') setChosen((chosen + 1) % recent.length)
    else if (proposes && key === 'ArrowUp')
      setChosen((Math.max(chosen, 0) - 1 + recent.length) % recent.length)
    else if (proposes && key === 'Enter') take(recent[chosen] ?? '')
    else if (proposes && key === 'Escape') setOpened(false)
    else if (key === 'ArrowDown' && typed === '') setOpened(true)
    else if (key === 'Escape') {
      change('')
      setOpened(true)
    } else if (key === 'ArrowDown' || key === 'Enter') {
      if (key === 'Enter') keepSearch(typed)
      onResults()
    } else return false
    return true
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (!event.nativeEvent.isComposing && act(event.key)) event.preventDefault()
  }
  return (
    <search
      className={styles.box}
      onFocus={() => {
        setOpened(true)
        setChosen(-1)
      }}
      onBlur={event => {
        if (!event.currentTarget.contains(event.relatedTarget)) setOpened(false)
      }}
    >
      <TextInput
        type="search"
        role="combobox"
        aria-label="Search APIs"
        aria-expanded={proposes}
        aria-controls={proposes ? list : undefined}
        aria-activedescendant={proposes && chosen >= 0 ? `${list}-${chosen}` : undefined}
        placeholder="Search names, descriptions, operations"
        autoComplete="off"
        maxLength={500}
        value={typed}
        onChange={event => {
          change(event.currentTarget.value)
          setChosen(-1)
        }}
        onKeyDown={onKeyDown}
        rightSection={searching && <Loader size="xs" aria-hidden />}
      />
      {proposes && (
        <RecentSearches list={list} recent={recent} chosen={chosen} onChoose={setChosen} onTake={take} />
      )}
    </search>
  )
}

interface RecentSearchesProps {
  /** Id of the list box; the options have `${list}-${index}`. */
  list: string
  recent: readonly string[]
  /** Index of the marked one, or -1. */
  chosen: number
  onChoose(index: number): void
  onTake(text: string): void
}

/** The proposals below the input, which keeps the focus and handles the keys. */
function RecentSearches({ list, recent, chosen, onChoose, onTake }: RecentSearchesProps) {
  return (
    <div className={styles.recent}>
      <div className={styles.head}>
        Recent searches
        <Button size="compact-xs" variant="subtle" onClick={forgetSearches}>
          Forget
        </Button>
      </div>
      <div id={list} role="listbox" aria-label="Recent searches">
        {recent.map((text, index) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the input handles the keys
          <div
            key={text}
            id={`${list}-${index}`}
            role="option"
            tabIndex={-1}
            aria-selected={index === chosen}
            className={styles.option}
            onMouseMove={() => onChoose(index)}
            onMouseDown={event => event.preventDefault()}
            onClick={() => onTake(text)}
          >
            {text}
          </div>
        ))}
      </div>
    </div>
  )
}
