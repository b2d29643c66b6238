import type { ApiInput } from '@gantry/contracts'

/** The input of an API of which only the required fields have values. */
export const apiInput: ApiInput = {
  name: 'payments',
  displayName: 'Payments',
  description: null,
  url: null,
  status: 'ACTIVE',
  tags: [],
  owner: null,
  platformType: null,
  gitUrl: null,
  gitCredential: null,
}
