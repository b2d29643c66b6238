import { NavLink, Stack, Text } from '@mantine/core'
import { Link, useLocation } from '@tanstack/react-router'
import { useId } from 'react'
import type { Session } from '../http/session.ts'
import { groupsOf, type ListedArea } from './areas.ts'
import { AreaIcon } from './icons.tsx'
import classes from './shell.module.css'

/** The areas that the session may open, by group. */
export function Navigation({ current, onOpen }: { current: Session; onOpen: () => void }) {
  return groupsOf(current).map(({ group, areas }) => (
    <AreaGroup key={group} label={group} areas={areas} onOpen={onOpen} />
  ))
}

interface AreaGroupProps {
  label: string
  areas: readonly ListedArea[]
  onOpen: () => void
}

function AreaGroup({ label, areas, onOpen }: AreaGroupProps) {
  const id = useId()
  // A delivery belongs to the list that it was opened from.
  const ofDeliveries = useLocation({ select: ({ state }) => state.deliveries !== undefined })
  const active = { 'data-active': true, 'aria-current': 'page' } as const
  return (
    <Stack gap={0} role="group" aria-labelledby={id}>
      <Text id={id} size="xs" fw={600} px="sm" pt="sm" pb={4}>
        {label}
      </Text>
      {areas.map(area => (
        <NavLink
          key={area.to}
          label={area.label}
          className={classes.area}
          leftSection={<AreaIcon path={area.to} />}
          renderRoot={props => (
            <Link
              to={area.to}
              activeProps={active}
              activeOptions={{ exact: ofDeliveries }}
              {...props}
              {...(ofDeliveries && area.to === '/deliveries' && active)}
              onClick={onOpen}
            />
          )}
        />
      ))}
    </Stack>
  )
}
