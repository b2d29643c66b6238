import { hostname } from 'node:os'
import { type Disk, dropMessages as dropSqlite, sqliteBus } from '@gantry/embedded'
import type { Log } from '@gantry/event-sourcing'
import type { Bus } from '@gantry/messaging'
import {
  dropStream,
  type NatsOptions,
  natsBus,
  natsPublisher,
  type Publisher,
  type StreamOptions,
} from '@gantry/messaging-nats'
import type { BusSettings } from '../settings.ts'
import type { Open } from './backing-stores.ts'
import { fileOf, SQLITE, watchedDisk } from './files.ts'

/** How the bus keeps messages. A file without `retentionMs` keeps them forever, and ignores the other options. */
export type MessageStorage = Omit<StreamOptions, 'name' | 'subjects'>

interface BusOptions extends MessageStorage {
  name: string
  log: Log
  disk?: Disk
}

/**
 * Opens the bus of MESSAGING_URL. `name` is the name of the service.
 * @throws NatsRefused, DataFolderRefused when the settings cannot be used
 */
export function openBus(
  settings: BusSettings,
  { name, log, disk = watchedDisk(log), ...stream }: BusOptions,
): Open<Bus> {
  const path = fileOf(settings.MESSAGING_URL)
  // Events wait in the log until the bus is available again.
  const opened = (bus: Bus, about: () => { kind: string; version: string | null }): Open<Bus> => ({
    store: bus,
    backingStore: {
      setting: 'MESSAGING_URL',
      onlyAtStart: true,
      about: () => ({ purpose: 'MESSAGE_BUS', ...about() }),
      check: () => bus.ping(),
    },
  })
  if (path !== undefined)
    return opened(sqliteBus({ path, disk, retentionMs: stream.retentionMs }), () => SQLITE)
  const nats = natsBus({ ...natsOptions(settings, name, log), stream })
  return opened(nats, () => ({ kind: 'NATS', version: nats.serverVersion() ?? null }))
}

/**
 * Opens a connection that publishes to one subject of the NATS server of MESSAGING_URL. It creates no stream.
 * @param setting name of the setting or option that contains the URL; used in messages
 * @throws NatsRefused, BusUnavailable
 */
export const openPublisher = (
  settings: BusSettings,
  subject: string,
  setting: string,
): Promise<Publisher> => {
  const { inbox: _, ...options } = natsOptions(settings, 'operator')
  return natsPublisher(options, subject, setting)
}

function natsOptions(settings: BusSettings, name: string, log?: Log): NatsOptions {
  const { NATS_USER: user, NATS_PASSWORD: password, NATS_CREDENTIALS: file } = settings
  const { NATS_CA: ca, NATS_CERT: cert, NATS_KEY: key } = settings
  const certificates = { ...(ca && { ca }), ...(cert && { cert }), ...(key && { key }) }
  return {
    url: settings.MESSAGING_URL,
    name: `${name}-${hostname()}-${process.pid}`,
    inbox: `_INBOX.${name}`,
    report: line => log?.info({}, line),
    credentials: { user, password, file },
    ...(Object.keys(certificates).length > 0 && { tls: certificates }),
  }
}

/**
 * Drops the messages of MESSAGING_URL with the positions of all consumers. No process may use them.
 * @returns whether there were any
 * @throws BusUnavailable
 */
export async function dropMessages(settings: BusSettings): Promise<boolean> {
  const path = fileOf(settings.MESSAGING_URL)
  if (path !== undefined) return dropSqlite(path)
  return dropStream(natsOptions(settings, 'operator'))
}
