import { OPERATIONS } from '@gantry/contracts'
import { expect, inject, test } from 'vitest'
import { readLogs, readSecrets, SECRET_FORMS } from './src/secrets.ts'

const folder = inject('logs')
const skipped = 'needs the logs of the service: LOGS names their folder'

/** The line of a log at an index. */
const lineAt = (text: string, index: number) =>
  text.slice(text.lastIndexOf('\n', index) + 1, text.indexOf('\n', index)).slice(0, 500)

// The logs of a service at BASE_URL are only known when LOGS names their folder.
test.skipIf(!folder)(
  'no log contains a secret that a story has sent or received',
  { timeout: 120_000, meta: { skipped } },
  () => {
    const logs = readLogs(folder ?? '')
    const secrets = readSecrets(inject('secrets'))
    const answered = logs.map(({ text }) => text).join('\n')

    const unseen = OPERATIONS.map(({ path }) => path.replace(/\{(\w+)\}/g, ':$1')).filter(
      route => !answered.includes(`"route":"${inject('basePath')}${route}"`),
    )
    expect(unseen, 'every operation is in the access log').toEqual([])
    expect(secrets.filter(secret => secret.startsWith('pat_')).length).toBeGreaterThan(50)
    expect(secrets.filter(secret => secret.startsWith('whsec_')).length).toBeGreaterThan(10)
    expect(secrets.filter(secret => secret.startsWith('eyJ')).length).toBeGreaterThan(50)
    expect(secrets).toContain(inject('admin').password)

    const found = logs.flatMap(({ name, text }) => {
      const places = [
        ...secrets.map(secret => text.indexOf(secret)),
        ...SECRET_FORMS.map(form => text.search(form)),
      ]
      return places.filter(index => index >= 0).map(index => `${name}: ${lineAt(text, index)}`)
    })
    expect(found).toEqual([])
  },
)
