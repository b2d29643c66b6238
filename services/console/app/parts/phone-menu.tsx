import { Button, Menu } from '@mantine/core'

interface PhoneMenuProps {
  /** Name of the record. */
  of: string
  actions: readonly { text: string; act: () => void; c?: string }[]
  loading?: boolean
}

/** What can be done with a record, in one menu on a phone. A wide screen has a button for each. */
export const PhoneMenu = ({ of, actions, loading = false }: PhoneMenuProps) => (
  <Menu position="bottom-end">
    <Menu.Target>
      <Button size="xs" variant="default" hiddenFrom="sm" loading={loading} aria-label={`Actions for ${of}`}>
        Actions
      </Button>
    </Menu.Target>
    <Menu.Dropdown>
      {actions.map(({ text, act, c }) => (
        <Menu.Item key={text} onClick={act} {...(c && { c })}>
          {text}
        </Menu.Item>
      ))}
    </Menu.Dropdown>
  </Menu>
)
