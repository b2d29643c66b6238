import { omitTooDeep } from './free-form.ts'

const SECRET = /password|secret|token|apikey|credential|private/
const isSecret = (key: string) => SECRET.test(key.toLowerCase().replace(/[-_]/g, ''))
const MASK = '***'

/**
 * The data of a public event for readers: webhooks, `GET /events`, delivery records and the audit log. In a
 * `CONFIGURATION_CHANGED` event the value of each key that names a secret becomes `***`, at any depth. Data that is too
 * deep for JSON is replaced. The stored event is not changed.
 */
export function readableData(type: string, data: Record<string, unknown>): Record<string, unknown> {
  const shallow = omitTooDeep(data)
  if (type !== 'CONFIGURATION_CHANGED') return shallow
  return JSON.parse(JSON.stringify(shallow), (key, value: unknown) => (isSecret(key) ? MASK : value))
}
