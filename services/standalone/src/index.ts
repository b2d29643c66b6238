export {
  answerBackups,
  backingUp,
  type Copies,
  type CopyRequest,
  type ProgressOfCopies,
  startCopies,
} from './backing-up.ts'
export { compose, servicesOver } from './composition.ts'
export { type DataFolder, ENTRIES, openDataFolder, RESTORING, sealDataFolder } from './data-folder.ts'
export { type Held, type Quarantine, quarantine, quarantineOver } from './quarantining.ts'
export { type Rebuilding, rebuildAll, rebuilding } from './rebuilding.ts'
export { type Settings, settingsSchema } from './settings.ts'
