import { Anchor, type AnchorProps, Button, type ButtonProps } from '@mantine/core'
import { createLink } from '@tanstack/react-router'
import type { ComponentPropsWithRef } from 'react'

type Element<Props> = Props & Omit<ComponentPropsWithRef<'a'>, keyof Props>

/** A link to a page of the console. Its parameters and search are typed by the route. */
export const AnchorLink = createLink((props: Element<AnchorProps>) => <Anchor {...props} />)

/** The same with the look of a button. */
export const ButtonLink = createLink((props: Element<ButtonProps>) => <Button component="a" {...props} />)
