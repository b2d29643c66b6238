#!/usr/bin/env node
import { Refusal } from '@gantry/contracts'
import { DataFolderRefused, DiskFull } from '@gantry/embedded'
import { EventStoreUnavailable } from '@gantry/event-sourcing'
import { BusUnavailable } from '@gantry/messaging'
import { SettingsRefused, Unanswered } from '@gantry/service-runtime'
import { ReadModelsUnavailable } from '@gantry/stores'
import { CommandFailed, WrongUsage } from './command.ts'
import { commandOf, runCommand } from './commands.ts'

/** Errors whose message is enough for an operator: an error of a setting, a folder or a backing store. */
const EXPECTED = [
  BusUnavailable,
  CommandFailed,
  DataFolderRefused,
  DiskFull,
  EventStoreUnavailable,
  ReadModelsUnavailable,
  Refusal,
  SettingsRefused,
  Unanswered,
  WrongUsage,
]

const words = process.argv.slice(2)
// All files are created for this user alone.
process.umask(0o077)
try {
  process.exitCode = await runCommand(words, process.env)
} catch (error) {
  if (!EXPECTED.some(kind => error instanceof kind)) throw error
  const { name } = commandOf(words)
  const { message } = error as Error
  const line = error instanceof Refusal ? (error.details.detail ?? message) : message
  process.stderr.write(`gantry${name && ` ${name}`}: ${line}\n`)
  process.exit(error instanceof WrongUsage ? 2 : 1)
}
