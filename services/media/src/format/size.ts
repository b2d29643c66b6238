/** The file starts as a known format and violates its rules. The message completes "the file …". */
export class Unreadable extends Error {}

/** Size in pixels as stored, without the orientation from metadata applied. */
export interface Size {
  width: number
  height: number
}
