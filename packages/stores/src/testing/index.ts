export { blobStoreContract, type OpenedBlobStore } from './blob-store-contract.ts'
export { type OpenedReadModels, readModelsContract } from './read-models-contract.ts'
export { searchContract } from './search-contract.ts'
export { type OpenedUserKeys, userKeysContract } from './user-keys-contract.ts'
