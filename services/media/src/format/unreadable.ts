/** The file says that it is of a format and breaks its rules; the message completes "the file …". */
export class Unreadable extends Error {}
