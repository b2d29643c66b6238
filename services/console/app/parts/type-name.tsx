import { Fragment } from 'react'

/** The name of an action or of an event, which breaks after an underscore. */
export const TypeName = ({ name }: { name: string }) =>
  name.split(/(?<=_)/).map((part, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a name stay
    <Fragment key={index}>
      {part}
      <wbr />
    </Fragment>
  ))
