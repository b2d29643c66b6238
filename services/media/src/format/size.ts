/** Pixels, as stored: orientation in metadata is not applied. */
export interface Size {
  width: number
  height: number
}
