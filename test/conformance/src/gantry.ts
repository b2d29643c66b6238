import { randomBytes, randomUUID } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import { inject } from 'vitest'
import { clientOf, type Query, type Service } from './client.ts'
import { contractOf } from './contract.ts'
import { recordIn } from './exercised.ts'
import type { Page } from './records.ts'
import { secretsIn } from './secrets.ts'

/** The service under test, with the clients, unique names and resources that most stories need. */
export const service: Service = {
  baseUrl: inject('baseUrl'),
  contract: contractOf(inject('document')),
  exercised: recordIn(inject('exercised')),
  seen: secretsIn(inject('secrets')),
}
export const admin = clientOf(service, inject('adminAuthorization'))
export const anonymous = clientOf(service)

const worker = `${inject('run')}${randomBytes(2).toString('hex')}`
let names = 0
/** A name that no other story, worker or run uses; it is one term without spaces. */
export const unique = (word: string) => {
  names += 1
  return `${worker}-${word}-${names}`
}
export const uuid = () => randomUUID()

/**
 * For what may be eventually consistent by the documentation. Everything else is requested once.
 * @param timeout milliseconds. An attempt that begins later is the last: a slow answer is no failure.
 */
export const eventually = async <T>(assertion: () => Promise<T> | T, timeout = 30_000): Promise<T> => {
  for (const startedAt = performance.now(); ; await setTimeout(40)) {
    const last = performance.now() - startedAt > timeout
    try {
      return await assertion()
    } catch (error) {
      if (last) throw error
    }
  }
}

/** For what is immediate by the documentation, which allows one second until it holds on every replica. */
export const withinASecond = <T>(assertion: () => Promise<T> | T) => eventually(assertion, 1500)

const leftovers: string[] = []
/** Deletes the resource when the stories of the file have ended. */
export const cleanUp = (path: string) => leftovers.push(path)
/** Called after each file by `vitest.setup.ts`, since the files of a worker share this module. */
export const deleteLeftovers = () => Promise.all(leftovers.splice(0).map(path => admin.delete(path)))

/** The item of a list, from any of its pages; undefined when no page has it. */
export const findListed = async <Item extends { id: string }>(
  path: string,
  id: string,
  query: Query = {},
) => {
  for (let page = 1; ; page += 1) {
    const { content, last } = (await admin.get(path, { ...query, page, size: 100 })).as<Page<Item>>(200)
    const item = content.find(candidate => candidate.id === id)
    if (item || last) return item
  }
}
