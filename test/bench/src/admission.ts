import { setTimeout } from 'node:timers/promises'
import { throughput, timed } from './load.ts'
import { inFolder, startProgram } from './processes.ts'
import { type Figure, progress } from './report.ts'
import { sampleApi } from './sample-apis.ts'
import { shown, spread } from './statistics.ts'

const ROUNDS = 5
const SECONDS = 3
const CONNECTIONS = 16
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
      const answers = (side: string) =>
        throughput({
          url: `${service.url}/${side}/apis/${api.id}`,
          connections: CONNECTIONS,
          seconds: SECONDS,
          headers,
        })
      const ratios: number[] = []
      for (let round = 0; round <= ROUNDS; round++) {
        progress(`(g) GET /apis/{id} with ${kind}, round ${round} of ${ROUNDS}`)
        const open = await answers('open')
        const ours = await answers('guarded')
        // The first round is a warm-up.
        if (round > 0) ratios.push(open / ours)
      }
      const ratio = spread(ratios)
      figures.push({
        name: `(g) time of GET /apis/{id} with ${kind} to without authentication`,
        reached: shown(ratio),
        target: 'at most 1.15',
        met: ratio.median <= 1.15,
      })
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
