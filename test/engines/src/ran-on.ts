import { beforeEach } from 'vitest'

declare module 'vitest' {
  interface TaskMeta {
    /** The servers that the test used, real or substitutes, which `npm run journeys` prints. */
    engine?: string
  }
}

/**
 * Records in the report of the tests which servers they used. Called at the top of a file or of a `describe`.
 * @param engine a description such as that of `findNats`, or a function that is called before each test
 */
export function ranOn(engine: string | (() => string)): void {
  beforeEach(({ task }) => {
    const description = typeof engine === 'string' ? engine : engine()
    // Without addresses, which differ between runs, and how to get a real server.
    task.meta.engine = description.replace(/, at \S+| \(for the real one [^)]*\)/g, '')
  })
}
