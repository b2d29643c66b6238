import { z } from 'zod'

/** What media reads from the environment: nothing of its own so far. */
export const mediaSettings = z.object({})
