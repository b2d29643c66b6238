import { hostname } from 'node:os'
import { type Disk, dropMessages as dropSqlite, sqliteBus } from '@gantry/embedded'
import type { Log } from '@gantry/event-sourcing'
import type { Bus } from '@gantry/messaging'
import { dropStream, type NatsOptions, natsBus, natsPublisher, type Publisher } from '@gantry/messaging-nats'
import type { BusSettings } from '../settings.ts'
import type { Open } from './backing-stores.ts'
import { fileOf, SQLITE, watchedDisk } from './files.ts'

/** How the bus keeps messages. */
export interface MessageStorage {
  /** In milliseconds. Default: the configuration of a NATS server stays unchanged; a file keeps messages forever. */
  retentionMs?: number | undefined
  /** Number of NATS servers that keep them. Default: the stream stays as it is. */
  replicas?: number | undefined
  /** Minimum retention in milliseconds and the setting that requires it. A server with a shorter retention is refused. */
  needed?: { setting: string; ms: number }
  /** Whether a missing stream of a NATS server is created. Default: true. */
  create?: boolean
}

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
  { name, log, disk = watchedDisk(log), retentionMs, replicas, needed, create }: BusOptions,
): Open<Bus> {
  const path = fileOf(settings.MESSAGING_URL)
  const stream = {
    ...(retentionMs !== undefined && { retentionMs }),
    ...(replicas !== undefined && { replicas }),
    ...(needed && { needed }),
    ...(create !== undefined && { create }),
  }
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
  if (path !== undefined) return opened(sqliteBus({ path, disk, retentionMs }), () => SQLITE)
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
  const quiet = () => {}
  const { inbox: _, ...options } = natsOptions(settings, 'operator', {
    info: quiet,
    warn: quiet,
    error: quiet,
  })
  return natsPublisher(options, subject, setting)
}

function natsOptions(settings: BusSettings, name: string, log: Log): NatsOptions {
  const { NATS_USER: user, NATS_PASSWORD: password, NATS_CREDENTIALS: file } = settings
  const { NATS_CA: ca, NATS_CERT: cert, NATS_KEY: key } = settings
  const certificates = { ...(ca && { ca }), ...(cert && { cert }), ...(key && { key }) }
  return {
    url: settings.MESSAGING_URL,
    name: `${name}-${hostname()}-${process.pid}`,
    inbox: `_INBOX.${name}`,
    report: line => log.info({}, line),
    credentials: {
      ...(user !== undefined && { user }),
      ...(password !== undefined && { password }),
      ...(file !== undefined && { file }),
    },
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
  const quiet = () => {}
  return dropStream(natsOptions(settings, 'operator', { info: quiet, warn: quiet, error: quiet }))
}
