import { styleText } from 'node:util'
import { hostInUrl, type Terminal } from '@gantry/hosting'
import type { Settings } from './settings.ts'

/** Styled text on terminals that support it; plain text elsewhere and with NO_COLOR. */
const bold = (text: string) => styleText('bold', text, { stream: process.stdout })
const faint = (text: string) => styleText('dim', text, { stream: process.stdout })
const print = (...lines: string[]) => process.stdout.write(`${lines.join('\n')}\n`)

/** Shows the administrator of a first start. A generated password is shown only here. */
export const showAdministrator = ({
  username,
  password,
}: {
  username: string
  password: string | undefined
}) =>
  print(
    '',
    'First start: this administrator is created now.',
    `  username  ${bold(username)}`,
    `  password  ${password === undefined ? 'as in GANTRY_ADMIN_PASSWORD' : `${bold(password)}   ${faint('shown this once: note it down')}`}`,
  )

export interface Start {
  /** When the user began to wait, in milliseconds since 1970. */
  launchedAt: number
  /** Called after the process has said that it is ready. */
  onReady(): void
}

/** Shows the progress of the process from now on. */
export function terminal(
  { HOST, BASE_PATH }: Settings,
  dataFolder: string,
  { launchedAt, onReady }: Start,
): Terminal {
  return {
    waitsFor: waiting => print(`waits for ${waiting}`),
    ready(port) {
      const url = `http://${hostInUrl(HOST)}:${port}${BASE_PATH}`
      const seconds = ((Date.now() - launchedAt) / 1000).toFixed(1)
      print(
        '',
        `Gantry runs at ${bold(`${url}/console`)} ${faint(`(ready in ${seconds} s)`)}`,
        `  REST interface  ${url}`,
        `  documentation   ${url}/docs`,
        `  data            ${dataFolder}`,
        '',
        'Try next:',
        `  curl -i ${url}/login -H 'content-type: application/json' -d '{"username":"…","password":"…"}'`,
        '  npm run demo     fills it with 2,639 public APIs',
        '',
        faint('Ctrl-C stops it; nothing is lost.'),
      )
      onReady()
    },
    stops(signal) {
      if (process.stdout.isTTY) print('', `${signal}: finishing open requests`)
    },
  }
}
