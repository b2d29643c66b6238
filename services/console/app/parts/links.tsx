import { Anchor, type AnchorProps, Button, type ButtonProps, Code } from '@mantine/core'
import { createLink } from '@tanstack/react-router'
import type { ComponentPropsWithRef } from 'react'

type Element<Props> = Props & Omit<ComponentPropsWithRef<'a'>, keyof Props>

/** A link to a page of the console. Its parameters and search are typed by the route. */
export const AnchorLink = createLink((props: Element<AnchorProps>) => <Anchor {...props} />)

/** The same with the look of a button. */
export const ButtonLink = createLink((props: Element<ButtonProps>) => <Button component="a" {...props} />)

/** A URL of the data. It is a link only for http and https: the text comes from any caller of the interface. */
export function Outside({ url }: { url: string }) {
  if (!/^https?:\/\//i.test(url)) return <Code>{url}</Code>
  return (
    <Anchor href={url} target="_blank" rel="noreferrer" inherit>
      {url}
    </Anchor>
  )
}
