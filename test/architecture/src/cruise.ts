import { cruise, format, type ICruiseResult, type IForbiddenRuleType } from 'dependency-cruiser'
import { FILE_RULES, FOLDER_RULES, TEST_FILES } from './import-rules.ts'
import { FOLDERS, sourceFiles } from './source-files.ts'

/** The result of the import rules for one source tree. */
export interface Cruise {
  /** Violations as "rule: from → to". */
  readonly violations: readonly string[]
  /** Violations for people; empty without any. */
  readonly report: string
  /** The number of source files that dependency-cruiser read. */
  readonly read: number
  /** Source files that dependency-cruiser did not read. It silently skips TypeScript without a compiler that it knows. */
  readonly unread: readonly string[]
}

/**
 * Checks the import rules.
 * @param root folder of the project
 * @param rules rules of files and of folders, by default those of this project
 */
export async function cruiseProject(
  root: string,
  rules = { files: FILE_RULES, folders: FOLDER_RULES },
): Promise<Cruise> {
  const all = await cruised(root, rules.files)
  const product = await cruised(root, rules.folders, TEST_FILES)
  const modules = new Set(all.modules.map(({ source }) => source))
  const sources = sourceFiles(root)
  const broken = [all, product].filter(({ summary }) => summary.violations.length > 0)
  const reports = await Promise.all(broken.map(result => format(result, { outputType: 'err-long' })))
  return {
    violations: [all, product].flatMap(({ summary }) =>
      summary.violations.map(({ rule, from, to }) => `${rule.name}: ${from} → ${to}`),
    ),
    report: reports.map(({ output }) => String(output).trim()).join('\n'),
    read: sources.filter(path => modules.has(path)).length,
    unread: sources.filter(path => !modules.has(path)),
  }
}

/**
 * @param exclude patterns of files that do not count
 */
async function cruised(
  root: string,
  forbidden: IForbiddenRuleType[],
  exclude: string[] = [],
): Promise<ICruiseResult> {
  const { output } = await cruise(
    FOLDERS,
    {
      baseDir: root,
      validate: true,
      ruleSet: { forbidden },
      // Includes imports of types.
      tsPreCompilationDeps: true,
      // A workspace may import the tools of the root, for example vitest.
      combinedDependencies: true,
      detectProcessBuiltinModuleCalls: true,
      doNotFollow: { path: ['node_modules'] },
      // What builds and tests have written is no source.
      exclude: { path: ['(^|/)\\.cache/', ...exclude] },
    },
    {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'default', 'types'],
      extensions: ['.ts', '.tsx', '.mjs', '.js', '.json'],
    },
  )
  if (typeof output === 'string') throw new TypeError('dependency-cruiser gave a text')
  return output
}
