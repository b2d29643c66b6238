import { Group, Title } from '@mantine/core'
import { CopyValue } from './copied.tsx'
import classes from './json-text.module.css'

/** A JSON value as text that scrolls and can be copied. @param title heading of the third order */
export function JsonText({ title, value }: { title: string; value: unknown }) {
  const text = JSON.stringify(value, null, 2)
  return (
    <div>
      <Group justify="space-between" mb={6}>
        <Title order={3} size="h5">
          {title}
        </Title>
        <CopyValue value={text} what={title.toLowerCase()} />
      </Group>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls needs the focus for its keys */}
      <section className={classes.text} tabIndex={0} aria-label={title}>
        {text}
      </section>
    </div>
  )
}
