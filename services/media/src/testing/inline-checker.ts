import { checkDocument } from '../check/check.ts'
import { compareDocuments } from '../compare/compare.ts'
import type { Checker } from '../document/checker.ts'
import { lint, tryRuleSet } from '../rules/lint.ts'
import type { Linting } from '../rules/linting.ts'

/** Checks documents in the calling thread, for tests that control time. */
export const inlineChecker: Checker = {
  check: async ({ read }, options) => checkDocument(await read(), options),
  compare: async (before, after) =>
    compareDocuments(
      { kind: before.kind, bytes: await before.read() },
      { kind: after.kind, bytes: await after.read() },
    ),
  stop: async () => {},
}

/** Applies rules in the calling thread. */
export const inlineLinting: Linting = {
  lint,
  tryRuleSet,
  preview: async (read, content) => lint(await read(), content),
  stop: async () => {},
}
