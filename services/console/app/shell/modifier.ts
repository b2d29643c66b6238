/** The key of commands: that of Apple's keyboards or that of others. */
export const MODIFIER: string = /Mac|iPhone|iPad/.test(navigator.userAgent) ? '⌘' : 'Ctrl'
