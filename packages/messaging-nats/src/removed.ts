import type { StreamState } from 'nats'

/**
 * Sequence up to which the server has removed messages of any subject. The server does not record which subjects they had.
 */
export const removedThrough = ({ first_seq }: Pick<StreamState, 'first_seq'>): number =>
  Math.max(0, first_seq - 1)
