import { eventStoreContract, inMemoryLog } from '@gantry/event-sourcing/testing'

eventStoreContract('the log in memory', async () => {
  const log = inMemoryLog()
  const eventStore = log.connect()
  return { eventStore, reopen: async () => log.connect(), close: () => eventStore.close() }
})
