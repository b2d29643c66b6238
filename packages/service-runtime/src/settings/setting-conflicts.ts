import { resolve } from 'node:path'
import { writtenDuration } from './durations.ts'

/** The settings that rules are about, as a schema has parsed them. A process has some of them. */
interface Values {
  PORT?: number
  INTERNAL_PORT?: number
  METRICS_PORT?: number
  EVENT_STORE_URL?: string
  READ_MODEL_URL?: string
  USER_KEY_URL?: string
  MESSAGING_URL?: string
  /** Of processes that store everything in this folder. */
  DATA_DIR?: string
  MESSAGING_REPLICAS?: number
  MESSAGE_RETENTION?: number
  WEBHOOK_RETENTION?: number
  RATE_LIMIT_PER_MINUTE?: number
  LOGIN_LIMIT_PER_MINUTE?: number
  CORS_ORIGINS?: readonly string[]
  AUDIT_PUSH_URL?: URL
}

interface Settings {
  values: Values
  /** Whether the operator has set it, so that it is not a default. */
  isSet(name: string): boolean
}

/** @returns the line that names the setting; undefined if the settings agree */
type Rule = (settings: Settings) => string | undefined

/** A port of its own; 0 stands for any free port. */
const anotherPort =
  (name: 'INTERNAL_PORT' | 'METRICS_PORT'): Rule =>
  ({ values }) =>
    values[name] && values[name] === values.PORT ? `${name}: must be another port than PORT` : undefined

type StoreName = 'EVENT_STORE_URL' | 'READ_MODEL_URL' | 'USER_KEY_URL' | 'MESSAGING_URL'

/** The store of a URL without its options; of a file, its whole path. */
function storeOf(url: string): string {
  const [store = ''] = url.replace(/^sqlite:/, '').split('?')
  return store.includes('://') ? store : resolve(store)
}

const anotherStore =
  (name: StoreName, other: StoreName): Rule =>
  ({ values: { [name]: url, [other]: otherUrl } }) =>
    url !== undefined && otherUrl !== undefined && storeOf(url) === storeOf(otherUrl)
      ? `${name}: must be another store than ${other}`
      : undefined

/** Settings that have an effect only if one of the others is set. */
const needs =
  (name: string, ...others: string[]): Rule =>
  ({ isSet }) =>
    isSet(name) && !others.some(isSet)
      ? `${name}: has no effect without ${others.join(' or ')}; remove it, or set that as well`
      : undefined

const atMostOneOf =
  (...names: string[]): Rule =>
  ({ isSet }) => {
    const [first, second] = names.filter(isSet)
    return second && `${second}: cannot be used together with ${first}; remove one of them`
  }

/** The limit of requests includes logins. 0 stands for no limit. */
const loginsWithinRequests: Rule = ({ values, isSet }) => {
  const { LOGIN_LIMIT_PER_MINUTE: logins = 0, RATE_LIMIT_PER_MINUTE: requests = 0 } = values
  return isSet('LOGIN_LIMIT_PER_MINUTE') && requests > 0 && logins > requests
    ? `LOGIN_LIMIT_PER_MINUTE: must be at most RATE_LIMIT_PER_MINUTE, which is ${requests}`
    : undefined
}

/** Otherwise messages of events that can still be delivered or recovered are removed. */
const keepsMessages: Rule = ({ values: { MESSAGE_RETENTION: kept, WEBHOOK_RETENTION: needed } }) =>
  kept !== undefined && needed !== undefined && kept < needed
    ? `MESSAGE_RETENTION: must not be shorter than WEBHOOK_RETENTION, which is ${writtenDuration(needed)}`
    : undefined

const oneCopyInAFile: Rule = ({ values: { MESSAGING_REPLICAS = 1, MESSAGING_URL, DATA_DIR } }) =>
  MESSAGING_REPLICAS > 1 && (MESSAGING_URL?.startsWith('sqlite:') || DATA_DIR !== undefined)
    ? 'MESSAGING_REPLICAS: must be 1, because the messages are stored in a file; several need NATS'
    : undefined

const passwordOfUser: Rule = ({ values, isSet }) =>
  isSet('NATS_PASSWORD') && !isSet('NATS_USER') && !/:\/\/[^/]*@/.test(values.MESSAGING_URL ?? '')
    ? 'NATS_PASSWORD: has no effect without a user; set NATS_USER as well'
    : undefined

const tokenOverHttps: Rule = ({ values: { AUDIT_PUSH_URL: url }, isSet }) =>
  isSet('AUDIT_PUSH_TOKEN') && url?.protocol === 's3:'
    ? 'AUDIT_PUSH_TOKEN: has no effect with s3: in AUDIT_PUSH_URL; use the settings AWS_…'
    : undefined

const allOrigins: Rule = ({ values: { CORS_ORIGINS: origins = [] } }) =>
  origins.includes('*') && origins.length > 1
    ? 'CORS_ORIGINS: must be * alone, or origins without it'
    : undefined

/** All settings that can contradict each other, whatever process they belong to. */
const RULES: readonly Rule[] = [
  anotherPort('INTERNAL_PORT'),
  anotherPort('METRICS_PORT'),
  anotherStore('READ_MODEL_URL', 'EVENT_STORE_URL'),
  anotherStore('USER_KEY_URL', 'EVENT_STORE_URL'),
  anotherStore('USER_KEY_URL', 'READ_MODEL_URL'),
  anotherStore('MESSAGING_URL', 'EVENT_STORE_URL'),
  anotherStore('MESSAGING_URL', 'READ_MODEL_URL'),
  anotherStore('MESSAGING_URL', 'USER_KEY_URL'),
  atMostOneOf('NATS_USER', 'NATS_CREDENTIALS'),
  passwordOfUser,
  needs('NATS_CERT', 'NATS_KEY'),
  needs('NATS_KEY', 'NATS_CERT'),
  oneCopyInAFile,
  keepsMessages,
  loginsWithinRequests,
  allOrigins,
  needs('AUDIT_PUSH_EVERY', 'AUDIT_PUSH_URL'),
  needs('AUDIT_PUSH_TOKEN', 'AUDIT_PUSH_URL'),
  tokenOverHttps,
  needs('PLATFORM_JWT_USER_CLAIM', 'PLATFORM_JWT_JWKS_URL', 'PLATFORM_JWT_PUBLIC_KEY'),
]

/**
 * Finds settings that contradict each other, or have no effect because of others.
 * @param values of all settings of a process, with defaults
 * @param given names of the settings that the operator has set
 * @returns a line for each contradiction, which begins with the name of a setting
 */
export function settingConflicts(values: object, given: ReadonlySet<string>): string[] {
  const settings: Settings = { values: values as Values, isSet: name => given.has(name) }
  return RULES.map(rule => rule(settings)).filter(line => line !== undefined)
}
