import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { DataFolderRefused, DiskFull, isFull } from '@gantry/embedded'
import { metricsServer, serverOptions } from '@gantry/gateway'
import { NotListening, runProcess } from '@gantry/hosting'
import { SettingsRefused } from '@gantry/service-runtime'
import { settingsSchema } from './settings.ts'
import { openStandalone } from './standalone.ts'

const PROGRAM = join(import.meta.dirname, '../../console/src/main.ts')

/**
 * Builds the web console in a process of its own, unless it is built already. It prints what it has done. The service does
 * not depend on the result.
 */
function startConsoleBuild(): void {
  const build = spawn(process.execPath, [PROGRAM], { stdio: ['ignore', 'inherit', 'inherit'] })
  const stop = () => build.kill()
  process.once('exit', stop)
  build.once('exit', () => process.off('exit', stop))
  build.once('error', error => console.error(`cannot build the web console: ${error.message}`))
}

/** A message for the operator; undefined for an internal error. */
function messageOf(error: unknown): string | undefined {
  if (error instanceof SettingsRefused) return `wrong settings\n  ${error.message.replaceAll('\n', '\n  ')}`
  if (error instanceof DataFolderRefused) return error.message
  const full = fullDiskOf(error)
  if (full) {
    const what = full instanceof DiskFull ? full.message : 'DATA_DIR cannot be written: the disk is full'
    return `${what}; free some space and start again`
  }
  return error instanceof NotListening ? hintOn(error) : undefined
}

/** The reason why a port cannot be used, and what the operator can do. */
function hintOn({ code, setting, port, message }: NotListening): string {
  const another = setting === 'METRICS_PORT' ? 8082 : 8081
  if (code === 'EADDRINUSE')
    return `port ${port} is taken: stop what uses it, or choose another with ${setting}=${another} npm start`
  if (code === 'EACCES')
    return `port ${port} may not be used by this user: choose one above 1023 with ${setting}`
  return message
}

/** The error of a full disk among the causes of an error. */
function fullDiskOf(error: unknown): Error | undefined {
  if (!(error instanceof Error)) return undefined
  return error instanceof DiskFull || isFull(error) ? error : fullDiskOf(error.cause)
}

/** The launcher sets it before it installs packages. */
const launchedAt = Number(process.env.GANTRY_LAUNCHED_AT) || performance.timeOrigin
const onReady = process.argv.includes('--build-console') ? startConsoleBuild : () => {}

await runProcess({
  name: 'standalone',
  schema: settingsSchema,
  environment: process.env,
  server: serverOptions,
  second: metricsServer,
  open: context => openStandalone(context, { launchedAt, onReady }),
  startFailure(error) {
    const message = messageOf(error)
    return message && `gantry: ${message}`
  },
})
