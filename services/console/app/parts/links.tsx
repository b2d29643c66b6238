import { Anchor, Button } from '@mantine/core'
import { createLink } from '@tanstack/react-router'

/** An anchor to a page of the console. Its parameters and search are typed by the route. */
export const AnchorLink = createLink(Anchor<'a'>)

/** The same with the look of a button. */
export const ButtonLink = createLink(Button<'a'>)
