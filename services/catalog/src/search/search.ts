import type { Search } from '@gantry/stores'
import { versions } from '../api/api.projection.ts'
import { descriptions } from './descriptions.ts'

/** The search for the parameter q, which reads the versions of APIs, their documents and the names of their owners. */
export const searchingBy =
  (namesLike: (q: string) => Promise<Readonly<Record<string, string>>>) =>
  async (q: string | undefined): Promise<Search | undefined> => {
    if (q === undefined || q.trim() === '') return undefined
    return {
      q,
      described: [
        { by: descriptions, field: 'api' },
        { by: versions, field: 'api' },
      ],
      named: { field: 'owner', texts: await namesLike(q), as: { weight: 3, words: 2 } },
    }
  }
