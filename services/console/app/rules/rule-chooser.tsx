import { Select, Text } from '@mantine/core'
import { useState } from 'react'
import { hasRule, RULES, withRule } from '../parts/rule-names.ts'

interface RuleChooserProps {
  /** The content of the rule set. */
  content: string
  onChange: (content: string) => void
}

/** Finds a built-in rule by its name or by what it finds, and adds it to the rules as a warning. */
export function RuleChooser({ content, onChange }: RuleChooserProps) {
  const [text, setText] = useState('')
  const names = Object.keys(RULES).filter(name => !hasRule(content, name))
  return (
    <Select
      label="Add a rule"
      description="It is added as a warning. Write error or off instead to change that."
      placeholder="Search by name or by what it finds"
      data={names}
      value={null}
      searchable
      searchValue={text}
      onSearchChange={setText}
      filter={({ options, search }) => {
        const words = search.toLowerCase().split(/\s+/)
        const isFound = (name: string) => {
          const all = `${name} ${RULES[name]}`.toLowerCase()
          return words.every(word => all.includes(word))
        }
        return options.filter(option => 'value' in option && isFound(option.value))
      }}
      renderOption={({ option }) => (
        <div>
          <Text size="sm">{option.value}</Text>
          <Text size="xs">{RULES[option.value]}</Text>
        </div>
      )}
      nothingFoundMessage="No rule has these words"
      maxDropdownHeight={320}
      onChange={name => {
        if (name === null) return
        onChange(withRule(content, name))
        setText('')
      }}
    />
  )
}
