/** Size in pixels as stored, without the orientation from metadata applied. */
export interface Size {
  width: number
  height: number
}
