export { busContract, type OpenedBus } from './bus-contract.ts'
