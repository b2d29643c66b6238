/** The address of the service, and the administrator who logs in. */
export const URL = variable('GANTRY_URL')
export const CREDENTIALS = { username: variable('GANTRY_USERNAME'), password: variable('GANTRY_PASSWORD') }

/** The smallest image, of one pixel. */
export const IMAGE = new Blob([
  Buffer.from(
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
    'base64',
  ),
])

export const DOCUMENT = JSON.stringify({
  openapi: '3.1.0',
  info: { title: 'Payments', version: '1' },
  paths: {},
})

/** Nobody listens there, so deliveries fail. */
export const NOWHERE = 'http://127.0.0.1:1/'

export function check(condition: unknown, what: string): asserts condition {
  if (!condition) throw new Error(`not as expected: ${what}`)
}

export const did = (step: string) => console.log(step)

function variable(name: string): string {
  const value = process.env[name]
  if (value === undefined) throw new Error(`${name} is not set`)
  return value
}
