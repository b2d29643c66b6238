/** An error that the user can fix. Its message and its advice, one line each, are shown without a stack trace. */
export class UserError extends Error {
  /** @param {string} message @param {string} [advice] @param {number} [exitCode] */
  constructor(message, advice = '', exitCode = 1) {
    super(message)
    this.advice = advice
    this.exitCode = exitCode
  }
}
