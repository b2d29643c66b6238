/**
 * Functions and option bags over their limits, as "file name", in the order of the files. An entry that is not needed is
 * a violation.
 */
export const KNOWN_SIZES: readonly string[] = []
