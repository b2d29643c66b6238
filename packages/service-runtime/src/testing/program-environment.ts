const { PATH = '', NODE_COMPILE_CACHE } = process.env

/**
 * The variables that programs of tests get from the environment of the tests: PATH, and the folder with compiled code that
 * the launcher sets. A service that starts with that folder takes three quarters of the CPU time.
 */
export const PROGRAM_ENVIRONMENT: Readonly<Record<string, string>> = {
  PATH,
  ...(NODE_COMPILE_CACHE && { NODE_COMPILE_CACHE }),
}
