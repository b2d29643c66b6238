import type { ProjectFile } from './project-files.ts'
import { isTest } from './source.ts'

/** The lines of source code of the product without the console and generated files, and of all tests with their tools. */
export function linesOf(files: readonly ProjectFile[]): { product: number; tests: number } {
  const lines = { product: 0, tests: 0 }
  for (const file of files.filter(
    ({ path }) =>
      /^(bin|packages|services|test)\/.*\.(ts|tsx|mjs)$/.test(path) && !/\.generated\.ts$/.test(path),
  )) {
    const number = file.text.split('\n').length - 1
    if (isTest(file)) lines.tests += number
    else if (!file.path.startsWith('services/console/')) lines.product += number
  }
  return lines
}
