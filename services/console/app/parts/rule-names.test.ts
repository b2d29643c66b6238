import { expect, test } from 'vitest'
import { hasRule, withRule } from './rule-names.ts'

test.each([
  ['', 'rules:\n  info-contact: warn\n'],
  ['extends: [minimal]', 'extends: [minimal]\nrules:\n  info-contact: warn\n'],
  ['rules:\n', 'rules:\n  info-contact: warn\n'],
  ['rules: # ours\n    struct: off\n', 'rules: # ours\n    info-contact: warn\n    struct: off\n'],
  ['rules: {}', 'rules: {info-contact: warn}'],
  ['rules: {struct: off}', 'rules: {info-contact: warn, struct: off}'],
  ['{"rules":{"struct":"off"}}', '{"rules":{"info-contact": "warn", "struct":"off"}}'],
  [
    '{\n  "rules": {\n    "a": "off"\n  }\n}',
    '{\n  "rules": {\n    "info-contact": "warn",\n    "a": "off"\n  }\n}',
  ],
])('a rule is added to %j', (content, expected) => {
  expect(withRule(content, 'info-contact')).toBe(expected)
  expect(hasRule(content, 'info-contact')).toBe(false)
  expect(hasRule(expected, 'info-contact')).toBe(true)
})
