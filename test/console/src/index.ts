export { openBrowser } from './chromium.ts'
export { grid, scrollThrough, untilInteractive } from './measure.ts'
export { signInAt } from './sign-in.ts'
