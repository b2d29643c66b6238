import { Fragment } from 'react'

/** The name of an event type, which may be broken after each underscore. */
export function TypeName({ name }: { name: string }) {
  return name.split(/(?<=_)/).map((part, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a name have a fixed order, and may be equal
    <Fragment key={index}>
      {index > 0 && <wbr />}
      {part}
    </Fragment>
  ))
}
