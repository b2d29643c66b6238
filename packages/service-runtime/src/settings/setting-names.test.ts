import { expect, test } from 'vitest'
import { misspelledSettings } from './settings.ts'

const SETTINGS = ['HOST', 'PORT', 'LOG_LEVEL', 'ENCRYPTION_KEY', 'NATS_CA']
const misspelled = (name: string) => misspelledSettings({ [name]: 'x' }, SETTINGS)

test.for([
  ['PROT', 'PORT', 'two neighbours are swapped'],
  ['PRT', 'PORT', 'a letter is left out'],
  ['PORTT', 'PORT', 'a letter is added'],
  ['POST', 'HOST or PORT', 'a letter is changed'],
  ['APORT', 'PORT', 'a letter is added before it'],
  ['LOGLEVEL', 'LOG_LEVEL', 'an underscore is left out'],
  ['ENCRYPTION_KEY_FLIE', 'ENCRYPTION_KEY_FILE', 'the suffix of a file is misspelled'],
  ['NATS_CAFILE', 'NATS_CA_FILE', 'the underscore before the suffix is left out'],
] as const)('%s is reported as a misspelled %s: %s', ([name, meant]) => {
  expect(misspelled(name)).toEqual([`${name}: is not a setting; did you mean ${meant}?`])
})

test.for(['PTRO', 'POTRRT', 'PORT_0', 'port', 'Port', 'LOG_LEVEL_FILE', 'PORT_FILE', ''])(
  '%j is ignored',
  name => {
    expect(misspelled(name)).toEqual([])
  },
)

test('every misspelled setting is named, even if its value is empty', () => {
  expect(misspelledSettings({ PROT: '', HSOT: 'x', PORT: '1' }, SETTINGS)).toHaveLength(2)
})
