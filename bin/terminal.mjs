const plainEveryMs = 10_000

/**
 * The output of the launcher. On a terminal, the status is one line that is updated; elsewhere it is a plain line every ten
 * seconds. Colours are used only on a terminal, and not with NO_COLOR.
 * @param {{ write: (text: string) => unknown, isTTY?: boolean, columns?: number }} stream
 * @param {NodeJS.ProcessEnv} [env]
 */
export function terminal(stream, env = process.env) {
  const living = Boolean(stream.isTTY) && env.TERM !== 'dumb'
  const coloured = living && !env.NO_COLOR
  let drawn = false
  let plainAt = performance.now()

  /**
   * @param {number} colour an SGR code
   * @param {string} text
   */
  const paint = (colour, text) => (coloured ? `\x1b[${colour}m${text}\x1b[0m` : text)
  const clear = () => {
    if (drawn) stream.write('\r\x1b[2K')
    drawn = false
  }
  /** @param {string} text */
  const line = text => {
    clear()
    plainAt = performance.now()
    stream.write(`${text}\n`)
  }

  return {
    living,
    coloured,
    line,
    /** @param {string} text the current status; calls may be frequent */
    status(text) {
      if (living) {
        stream.write(`\r\x1b[2K${paint(2, text.slice(0, (stream.columns || 80) - 1))}`)
        drawn = true
      } else if (performance.now() - plainAt >= plainEveryMs) line(text)
    },
    /** @param {string} text */
    done: text => line(paint(32, text)),
    /**
     * @param {string} message
     * @param {string} [advice]
     */
    fail(message, advice) {
      line(paint(31, message))
      if (advice) line(advice)
    },
  }
}

/** @typedef {ReturnType<typeof terminal>} Terminal */
