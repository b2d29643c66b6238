/** Median and range of some values. */
export interface Spread {
  median: number
  min: number
  max: number
}

export const quantile = (values: readonly number[], q: number): number => {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))] ?? Number.NaN
}

export const spread = (values: readonly number[]): Spread => ({
  median: quantile(values, 0.5),
  min: Math.min(...values),
  max: Math.max(...values),
})

const short = (value: number) =>
  value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2)

export const shown = ({ median, min, max }: Spread, unit = '') =>
  `${short(median)}${unit} (${short(min)}–${short(max)})`
