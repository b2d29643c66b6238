import type { Condition, Scalar } from '@gantry/read-models'
import { Bits } from './bits.ts'
import type { Field } from './field.ts'
import { compareValues, kindOf, type Order } from './order.ts'
import type { SlotSet } from './slot-set.ts'

type Range = Extract<Condition, { gt?: string | number }>

const NOTHING = new Bits(0)

/**
 * Removes from a selection the slots whose field does not satisfy the condition.
 * @param order returns the slots in ascending order of the field; called for ranges only
 */
export function restrict(selected: Bits, condition: Condition, field: Field, order: () => Order) {
  if (condition === null || typeof condition !== 'object') keep(selected, field.slotsWith(condition))
  else if ('in' in condition) selected.keepAll(slotsWithAny(field, condition.in))
  else if ('all' in condition) for (const item of condition.all) keep(selected, field.slotsWith(item))
  else if ('not' in condition) selected.deleteAll(field.slotsWith(condition.not)?.toBits() ?? NOTHING)
  else selected.keepAll(slotsInRange(field, condition, order()))
}

const keep = (selected: Bits, slots: SlotSet | undefined) => selected.keepAll(slots?.toBits() ?? NOTHING)

function slotsWithAny(field: Field, values: readonly Scalar[]): Bits {
  const slots = new Bits(field.values.length)
  for (const value of values) field.slotsWith(value)?.addTo(slots)
  return slots
}

/** Values of another type than a bound, null included, are out of range. */
function slotsInRange({ values }: Field, { gt, gte, lt, lte }: Range, order: Order): Bits {
  const bounds = [gt, gte, lt, lte].filter(bound => bound !== undefined)
  const begins = (slot: number) => {
    const value = values[slot] ?? null
    return (
      bounds.every(bound => kindOf(value) >= kindOf(bound)) &&
      (gt === undefined || compareValues(value, gt) > 0) &&
      (gte === undefined || compareValues(value, gte) >= 0)
    )
  }
  const ends = (slot: number) => {
    const value = values[slot] ?? null
    return (
      bounds.some(bound => kindOf(value) > kindOf(bound)) ||
      (lt !== undefined && compareValues(value, lt) >= 0) ||
      (lte !== undefined && compareValues(value, lte) > 0)
    )
  }
  const slots = new Bits(values.length)
  for (const slot of order.between(begins, ends)) slots.add(slot)
  return slots
}
