import { styleText } from 'node:util'

/** Styled text on terminals that support it; plain text elsewhere and with NO_COLOR. */
const bold = (text: string) => styleText('bold', text, { stream: process.stdout })
const faint = (text: string) => styleText('dim', text, { stream: process.stdout })

/** The messages on the terminal at the start of the service. */
export const welcome = {
  administrator: ({ username, password }: { username: string; password: string | undefined }) =>
    [
      '',
      'First start: this administrator is created now.',
      `  username  ${bold(username)}`,
      `  password  ${password === undefined ? 'as in GANTRY_ADMIN_PASSWORD' : `${bold(password)}   ${faint('shown this once: note it down')}`}`,
    ].join('\n'),

  ready: ({ url, dataFolder }: { url: string; dataFolder: string }, ms: number) =>
    [
      '',
      `Gantry runs at ${bold(url)} ${faint(`(ready in ${(ms / 1000).toFixed(1)} s)`)}`,
      `  documentation  ${url}/docs`,
      `  data           ${dataFolder}`,
      '',
      'Try next:',
      `  curl -i ${url}/login -H 'content-type: application/json' -d '{"username":"…","password":"…"}'`,
      '  npm run demo     fills it with 2,639 public APIs',
      '',
      faint('Ctrl-C stops it; nothing is lost.'),
    ].join('\n'),
}
