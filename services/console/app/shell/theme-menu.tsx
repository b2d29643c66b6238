import { ActionIcon, type MantineColorScheme, Menu, useMantineColorScheme } from '@mantine/core'
import { HalfIcon, MoonIcon, SunIcon } from './icons.tsx'

const THEMES = [
  { value: 'light', label: 'Light', icon: <SunIcon /> },
  { value: 'dark', label: 'Dark', icon: <MoonIcon /> },
  { value: 'auto', label: 'As the system', icon: <HalfIcon /> },
] as const satisfies readonly { value: MantineColorScheme; label: string; icon: unknown }[]

/** Chooses the theme, which this browser remembers. */
export function ThemeMenu() {
  const { colorScheme, setColorScheme } = useMantineColorScheme()
  const current = THEMES.find(({ value }) => value === colorScheme) ?? THEMES[2]
  return (
    <Menu position="bottom-end" withInitialFocusPlaceholder={false}>
      <Menu.Target>
        <ActionIcon variant="default" size="lg" aria-label={`Theme: ${current.label}`}>
          {current.icon}
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.RadioGroup value={colorScheme} onChange={value => setColorScheme(value as MantineColorScheme)}>
          {THEMES.map(({ value, label }) => (
            <Menu.RadioItem key={value} value={value} closeMenuOnClick>
              {label}
            </Menu.RadioItem>
          ))}
        </Menu.RadioGroup>
      </Menu.Dropdown>
    </Menu>
  )
}
