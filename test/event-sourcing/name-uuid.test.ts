import { nameUuids } from '@gantry/event-sourcing'
import { expect, test } from 'vitest'

const DNS = '6ba7b810-9dad-11d1-80b4-00c04fd430c8'
const EVENTS = '6f1b7a0e-6f0c-4b0f-9a55-0c8f3c2b7f11'

test.for([
  // RFC 9562, Appendix A.4
  [DNS, 'www.example.com', '2ed6657d-e927-568b-95e1-2665a8aea6a2'],
  // The others are from Python's uuid module; 886313e1 is an example in its documentation.
  [DNS, 'python.org', '886313e1-3b8a-5372-9b90-0c9aee199e5d'],
  [EVENTS, '', '716d604e-c9b4-5b5b-9f2a-9b4e4e46ab12'],
  [EVENTS, 'größe 🚀', '92c9434c-0acf-53de-8870-ccd6cd14c12d'],
] as const)('in %s, "%s" has the UUID %s', ([namespace, name, uuid]) => {
  expect(nameUuids(namespace)(name)).toBe(uuid)
})
