import { z } from 'zod'

/** Settings that media reads from the environment: none of its own. */
export const mediaSettings = z.object({})
