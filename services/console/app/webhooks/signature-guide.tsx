import { Anchor, Code, List, SegmentedControl, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { CodeBlock } from '../parts/copy.tsx'
import { SIGNATURE_CODE } from './signature-code.ts'

/** How a receiver checks that a request is from this service. */
export function SignatureGuide() {
  const [language, setLanguage] = useState('JavaScript')
  return (
    <Stack gap="sm">
      <Text size="sm">
        Each request follows{' '}
        <Anchor href="https://www.standardwebhooks.com" target="_blank" rel="noreferrer" underline="always">
          Standard Webhooks
        </Anchor>
        , so that any library for it works. Without a library:
      </Text>
      <List size="sm" type="ordered" spacing={4}>
        <List.Item>
          Take the headers <Code>webhook-id</Code>, <Code>webhook-timestamp</Code> and{' '}
          <Code>webhook-signature</Code>, and the body as it was received.
        </List.Item>
        <List.Item>
          Sign <Code>id.timestamp.body</Code> with HMAC-SHA256. The key is the base64-decoded secret without{' '}
          <Code>whsec_</Code>.
        </List.Item>
        <List.Item>
          Compare the base64 of the result with each <Code>v1,…</Code> signature in constant time, and refuse
          timestamps that are more than five minutes off.
        </List.Item>
        <List.Item>
          Process each <Code>webhook-id</Code> once, and answer 2xx within 15 seconds. Other answers are
          failures and lead to another attempt.
        </List.Item>
      </List>
      <SegmentedControl
        aria-label="Language of the example"
        value={language}
        onChange={setLanguage}
        data={Object.keys(SIGNATURE_CODE)}
        style={{ alignSelf: 'flex-start' }}
      />
      <CodeBlock
        label={`Check of a signature in ${language}`}
        text={SIGNATURE_CODE[language] ?? ''}
        maxHeight={420}
      />
    </Stack>
  )
}
