import { existsSync, rmSync } from 'node:fs'
import { dropStream } from '@gantry/messaging-nats'
import { dropReadModels as dropMongo } from '@gantry/read-models-mongo'
import type { BusSettings, StoreSettings } from './settings.ts'
import { fileOf, natsOptions } from './stores.ts'

/**
 * Drops the read models of READ_MODEL_URL with all positions and leases, but no blobs and no keys of users. No process may
 * use them.
 * @returns whether there were any
 * @throws ReadModelsUnavailable
 */
export async function dropReadModels({ READ_MODEL_URL }: StoreSettings): Promise<boolean> {
  const path = fileOf(READ_MODEL_URL)
  if (path !== undefined) return dropFile(path)
  return (await dropMongo({ url: READ_MODEL_URL })) > 0
}

/**
 * Drops the messages of MESSAGING_URL with the positions of all consumers. No process may use them.
 * @returns whether there were any
 * @throws BusUnavailable
 */
export async function dropMessages(settings: BusSettings): Promise<boolean> {
  const path = fileOf(settings.MESSAGING_URL)
  if (path !== undefined) return dropFile(path)
  const quiet = () => {}
  return dropStream(natsOptions(settings, 'operator', { info: quiet, warn: quiet, error: quiet }))
}

function dropFile(path: string): boolean {
  const existed = existsSync(path)
  for (const suffix of ['-wal', '-shm', '']) rmSync(path + suffix, { force: true })
  return existed
}
