/** The file starts as a known format and violates its rules. The message completes "the file …". */
export class Unreadable extends Error {}
