import { eventStoreContract, inMemoryLog } from '@gantry/event-sourcing/testing'

eventStoreContract('the in-memory log', async () => {
  const log = inMemoryLog()
  const eventStore = log.connect()
  return { eventStore, reopen: async () => log.connect(), close: () => eventStore.close() }
})
