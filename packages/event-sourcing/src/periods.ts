import type { Document, FieldKind } from '@gantry/read-models'

/**
 * A document that shows a resource in one period between two of its changes. Documents of all periods of a resource
 * together are its history: at each time at most one of them is valid.
 */
export interface Period extends Document {
  /** `{id of the resource}/{revision of the event that began the period}`. */
  id: string
  /** Id of the resource. */
  resource: string
  /** ISO 8601 UTC with milliseconds, inclusive. */
  validFrom: string
  /** The same, exclusive; NOT_ENDED for the period that has not ended. */
  validTo: string
}

/** Later than every time that can be asked for. */
export const NOT_ENDED = '9999-12-31T23:59:59.999Z'

/** The fields of a period that queries need, for the declaration of a collection. */
export const periodFields = {
  resource: 'string',
  validFrom: 'string',
  validTo: 'string',
} as const satisfies Record<string, FieldKind>

/** The validity of a period, for the declaration of a collection. */
export const validity = { from: 'validFrom', to: 'validTo' }
