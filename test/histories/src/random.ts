/** Random integers from a seed (splitmix32, Vigna 2014); always 0 for seed 0. */
export function random(seed: number): () => number {
  let state = seed
  return () => {
    if (seed === 0) return 0
    state = (state + 0x9e3779b9) | 0
    let mixed = Math.imul(state ^ (state >>> 16), 0x21f0aaad)
    mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97)
    return (mixed ^ (mixed >>> 15)) >>> 0
  }
}
