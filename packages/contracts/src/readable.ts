const SECRET = /password|secret|token|apikey|credential|private/
const isSecret = (key: string) => SECRET.test(key.toLowerCase().replace(/[-_]/g, ''))
const MASK = '***'

/**
 * The data of a public event for readers. In a `CONFIGURATION_CHANGED` event the value of each key that names a secret
 * becomes `***`, at any depth. The stored event is not changed.
 */
export function readableData(type: string, data: Record<string, unknown>): Record<string, unknown> {
  if (type !== 'CONFIGURATION_CHANGED') return data
  return JSON.parse(JSON.stringify(data), (key, value: unknown) => (isSecret(key) ? MASK : value))
}
