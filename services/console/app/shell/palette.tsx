import { Modal, Stack, TextInput } from '@mantine/core'
import { useRouter } from '@tanstack/react-router'
import { type KeyboardEvent, useEffect, useId, useState } from 'react'
import { adviceOn, asProblem } from '../http/problem.ts'
import type { Session } from '../http/session.ts'
import { Marked } from '../parts/marked.tsx'
import { rangesOf } from '../parts/operations.ts'
import { type AccountDialog, type Command, useCommands, useRecords } from './commands.ts'
import { SearchIcon } from './icons.tsx'
import classes from './palette.module.css'

export interface PaletteProps {
  current: Session
  opened: boolean
  /** The element that had the focus before. */
  returnTo: HTMLElement | null
  onClose: () => void
  onDialog: (dialog: AccountDialog) => void
}

/** Finds pages, actions and records by name, and opens them: a combobox with a list box (ARIA 1.2). */
export function Palette({ current, opened, returnTo, onClose, onDialog }: PaletteProps) {
  const router = useRouter()
  const [leaves, setLeaves] = useState(false)
  const run = ({ path, dialog, run: act }: Command) => {
    setLeaves(path !== undefined || dialog !== undefined)
    onClose()
    act?.()
    if (dialog) onDialog(dialog)
    if (path !== undefined) router.history.push(router.basepath.replace(/\/$/, '') + path)
  }
  const cancel = () => {
    setLeaves(false)
    onClose()
  }
  return (
    <Modal
      opened={opened}
      onClose={cancel}
      withCloseButton={false}
      returnFocus={false}
      // The focus returns, or goes to the page or the dialog that opens.
      onExitTransitionEnd={() => !leaves && returnTo?.focus()}
      padding={0}
      size="lg"
      yOffset="10vh"
      aria-label="Command palette"
    >
      <Search current={current} onRun={run} />
    </Modal>
  )
}

function Search({ current, onRun }: { current: Session; onRun: (command: Command) => void }) {
  const [text, setText] = useState('')
  const [active, setActive] = useState(0)
  const [entered, setEntered] = useState(false)
  const list = useId()
  const commands = useCommands(current, text)
  const { found, missing, reading, error } = useRecords(current, text)
  const entries = [...commands, ...found]
  const selected = Math.min(active, entries.length - 1)
  const chosen = entries[selected]
  // Records of an earlier text stay in the list until the search has ended. Enter waits for that, so that it opens none of them.
  const settled = !reading || commands[selected] !== undefined
  useEffect(() => {
    if (entered && settled) setEntered(false)
    if (entered && settled && chosen) onRun(chosen)
  }, [entered, settled, chosen, onRun])
  const onKeyDown = (event: KeyboardEvent) => {
    const step = STEPS[event.key]
    if (event.nativeEvent.isComposing) return
    if (event.key === 'Enter') setEntered(true)
    else if (step && entries.length > 0) setActive((selected + step + entries.length) % entries.length)
    else return
    event.preventDefault()
  }
  return (
    <>
      <TextInput
        size="lg"
        variant="unstyled"
        px="sm"
        data-autofocus
        leftSection={<SearchIcon />}
        placeholder="Search by name or words"
        aria-label="Find a page, an action or a record"
        role="combobox"
        aria-expanded={entries.length > 0}
        aria-controls={list}
        aria-activedescendant={entries[selected] && `${list}-${selected}`}
        autoComplete="off"
        spellCheck={false}
        value={text}
        onChange={event => {
          setText(event.currentTarget.value)
          setActive(0)
          setEntered(false)
        }}
        onKeyDown={onKeyDown}
      />
      <Entries
        id={list}
        words={text}
        entries={entries}
        selected={selected}
        onSelect={setActive}
        onRun={onRun}
      />
      <div role="status" className={classes.hint}>
        {stateText(entries, reading, error)}
        {!reading && !error && entries.length > 0 && (
          <span className={classes.keys}> Choose with the arrow keys and Enter.</span>
        )}
        {!reading && missing.length > 0 && ` No API has ${missing.map(word => `“${word}”`).join(' or ')}.`}
      </div>
    </>
  )
}

const STEPS: Readonly<Record<string, number>> = { ArrowDown: 1, ArrowUp: -1 }

interface EntriesProps {
  id: string
  /** What is searched for. */
  words: string
  entries: readonly Command[]
  selected: number
  onSelect: (index: number) => void
  onRun: (command: Command) => void
}

function Entries({ id, words, entries, selected, onSelect, onRun }: EntriesProps) {
  const groups = Object.entries(Object.groupBy(entries, ({ group }) => group))
  return (
    <div id={id} role="listbox" aria-label="Results" className={classes.list}>
      {groups.map(([group, commands = []]) => (
        <Stack key={group} gap={0} role="group" aria-label={group}>
          <div className={classes.group} aria-hidden>
            {group}
          </div>
          {commands.map(command => (
            <Entry
              key={command.id}
              id={`${id}-${entries.indexOf(command)}`}
              words={words}
              command={command}
              selected={entries.indexOf(command) === selected}
              onSelect={() => onSelect(entries.indexOf(command))}
              onRun={() => onRun(command)}
            />
          ))}
        </Stack>
      ))}
    </div>
  )
}

interface EntryProps {
  id: string
  words: string
  command: Command
  selected: boolean
  onSelect: () => void
  onRun: () => void
}

/** An entry has no focus of its own: the input says which one is active. */
function Entry({ id, words, command, selected, onSelect, onRun }: EntryProps) {
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the input handles the keys
    <div
      id={id}
      role="option"
      tabIndex={-1}
      aria-selected={selected}
      className={classes.option}
      data-lines={command.hasLines || undefined}
      data-all={command.leadsToAll || undefined}
      ref={element => {
        if (selected) element?.scrollIntoView({ block: 'nearest' })
      }}
      onMouseMove={onSelect}
      onMouseDown={event => event.preventDefault()}
      onClick={onRun}
    >
      <span>
        <Marked text={command.label} ranges={command.leadsToAll ? [] : rangesOf(command.label, words)} />
      </span>
      {command.detail && (
        <span className={classes.detail}>
          <Marked text={command.detail} ranges={rangesOf(command.detail, words)} />
        </span>
      )}
    </div>
  )
}

function stateText(entries: readonly Command[], reading: boolean, error: unknown): string {
  if (reading) return 'Searching'
  if (error) {
    const problem = asProblem(error)
    return `Some results are missing: ${problem.title}. ${adviceOn(problem) ?? ''}`
  }
  const records = entries.filter(({ leadsToAll }) => !leadsToAll).length
  if (records === 0) return 'No page, action or record matches.'
  const results = `${records} ${records === 1 ? 'result' : 'results'}`
  return records < entries.length ? `The best ${results}.` : `${results}.`
}
