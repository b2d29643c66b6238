import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { subjects } from '@gantry/contracts'
import { subjectMatches } from '@gantry/messaging'
import { expect, test } from 'vitest'

const SERVICES = ['catalog', 'identity', 'media', 'notifier']
const config = await readFile(join(import.meta.dirname, '../../deploy/nats/nats-server.conf'), 'utf8')

/** The permissions of each user in the file. */
const users = new Map(
  config
    .split(/^ {6}user: /m)
    .slice(1)
    .map(block => {
      const list = (name: string) =>
        [...(new RegExp(`${name}: \\[([^\\]]*)\\]`).exec(block)?.[1] ?? '').matchAll(/"([^"]+)"/g)].map(
          ([, subject = '']) => subject,
        )
      return [block.split('\n')[0] ?? '', { publish: list('publish'), subscribe: list('subscribe') }] as const
    }),
)
const publishers = (subject: string) =>
  [...users]
    .filter(([, { publish }]) => publish.some(own => subjectMatches(own, subject)))
    .map(([user]) => user)
const hearers = (subject: string) =>
  [...users]
    .filter(([, { subscribe }]) => subscribe.some(own => subjectMatches(own, subject)))
    .map(([user]) => user)

test('only the user of a service may publish its events', () => {
  for (const service of SERVICES) expect(publishers(subjects.events(service, 'ANYTHING'))).toEqual([service])
  expect(publishers(subjects.events('platform', 'ANYTHING'))).toEqual(['notifier'])
  expect(publishers(subjects.platformEvents)).toEqual(['producer'])
  expect(publishers(subjects.deploymentReported)).toEqual(['deployment-agent'])
})

test('a user may delete its durable consumers, which begin anew where the server has lost messages', () => {
  const consumersOf = (subjects: string[]) =>
    subjects.flatMap(subject => /^\$JS\.API\.CONSUMER\.INFO\.GANTRY\.(.+)$/.exec(subject)?.[1] ?? [])
  for (const [user, { publish }] of users)
    for (const consumer of consumersOf(publish))
      expect(publishers(`$JS.API.CONSUMER.DELETE.GANTRY.${consumer}`)).toContain(user)
})

test('internal messages have one publishing user, and only their recipients may subscribe', () => {
  const { principalChanged, keysChanged, rateCounts } = subjects
  expect([principalChanged, keysChanged].map(publishers)).toEqual([['identity'], ['identity']])
  expect(hearers(principalChanged)).toEqual(['catalog', 'notifier', 'gateway'])
  expect(hearers(keysChanged)).toEqual(['gateway'])
  expect([publishers(rateCounts), hearers(rateCounts)]).toEqual([['gateway'], ['gateway']])
})

test('every subject of the contracts has a subscriber or is stored', () => {
  const stored = ['events.>', 'platform.events', 'deployments.reported']
  const all = Object.values(subjects).map(subject =>
    typeof subject === 'string' ? subject : subject('catalog', 'ANYTHING'),
  )
  const unheard = all.filter(
    subject => hearers(subject).length === 0 && !stored.some(pattern => subjectMatches(pattern, subject)),
  )
  expect(unheard).toEqual([])
})

test('every user has its own inbox, which no other user may read', () => {
  for (const [user, { subscribe }] of users) {
    expect(subscribe).toContain(`_INBOX.${user}.>`)
    expect(hearers(`_INBOX.${user}.1`)).toEqual([user])
  }
  expect(hearers('events.catalog.ANYTHING')).toEqual([])
})

test('passwords and certificates come from the environment', () => {
  const secrets = [...config.matchAll(/^\s*(?:password|cert_file|key_file): (.*)$/gm)].map(
    ([, value]) => value,
  )
  expect(secrets).toHaveLength(users.size + 2)
  for (const secret of secrets) expect(secret).toMatch(/^\$[A-Z_]+$/)
})
