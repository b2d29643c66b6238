import { setTimeout } from 'node:timers/promises'
import { inTurn, throughput, timed } from './load.ts'
import { inFolder, startProgram } from './processes.ts'
import { atMost, type Figure } from './report.ts'
import { sampleApi } from './sample-apis.ts'

const PASSWORD = 'a password for figures'

/**
 * (g) Cost of authentication for a GET: the same route of the same process on the same stores, once behind the gateway's
 * admission and once with a fixed caller. Measured with a login and with an access token; the gateway caches both as usual.
 */
export async function admission(): Promise<Figure[]> {
  return inFolder(async folder => {
    const service = await startProgram('guarded', { FOLDER: folder, PASSWORD })
    const authorization = await logIn(service.url)
    const guarded = (method: string, path: string, body: object) =>
      timed(method, `${service.url}/guarded${path}`, { authorization }, JSON.stringify(body))
    const api = JSON.parse((await guarded('POST', '/apis', sampleApi(0))).text)
    const made = await guarded('POST', '/accessTokens', { name: 'bench', scopes: ['API_READ'] })
    const credentials = [
      ['login', authorization],
      ['access token', `Bearer ${JSON.parse(made.text).token}`],
    ] as const
    const figures: Figure[] = []
    for (const [kind, credential] of credentials) {
      // Both requests have the header, so that they have the same length.
      const headers = { authorization: credential }
      const answers = (side: string) => throughput({ url: `${service.url}/${side}/apis/${api.id}`, headers })
      // The time of a response with authentication to that without is the inverse ratio of the rates.
      const { ratios } = await inTurn(
        `(g) GET /apis/{id} with ${kind}`,
        () => answers('guarded'),
        () => answers('open'),
      )
      const name = `(g) time of GET /apis/{id} with ${kind} to without authentication`
      figures.push(atMost(name, ratios, 1.15))
    }
    await service.stop()
    return figures
  })
}

/** Repeats the login, because the process answers shortly before it has created the administrator. */
async function logIn(url: string): Promise<string> {
  for (;;) {
    const answer = await fetch(`${url}/guarded/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ username: 'admin', password: PASSWORD }),
    })
    const authorization = answer.headers.get('authorization')
    if (authorization) return authorization
    await setTimeout(200)
  }
}
