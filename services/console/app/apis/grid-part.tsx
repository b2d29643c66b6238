import type { ComponentProps } from 'react'

/**
 * An element of a grid (WAI-ARIA APG, grid pattern). It is a div, because the rows of a table element cannot be placed at
 * offsets. Rows and cells have no tab stop: the grid has the focus and names its active row.
 */
export function GridPart({
  role,
  ...props
}: ComponentProps<'div'> & { role: 'grid' | 'rowgroup' | 'row' | 'columnheader' | 'gridcell' }) {
  return <div role={role} {...props} />
}
