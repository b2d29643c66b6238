import { checkDocument } from '../check/check.ts'
import type { Checker } from '../document/checker.ts'

/** Checks documents in the calling thread, for tests that control time. */
export const inlineChecker: Checker = {
  check: async ({ read }, options) => checkDocument(await read(), options),
  stop: async () => {},
}
