import { Title } from '@mantine/core'
import { CodeBlock } from './copy.tsx'

/** A JSON value as text that scrolls and can be copied. @param title heading of the third order */
export function JsonText({ title, value }: { title: string; value: unknown }) {
  return (
    <div>
      <Title order={3} size="h5" mb={6}>
        {title}
      </Title>
      <CodeBlock label={title} text={JSON.stringify(value, null, 2)} maxHeight="50dvh" wrap />
    </div>
  )
}
