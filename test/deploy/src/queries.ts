/** Keywords of PromQL that can be mistaken for metrics, because no parenthesis follows them. */
const WORDS = new Set(['and', 'or', 'unless', 'bool', 'offset'])

/** The names of the metrics in a query. */
export function metricsIn(query: string): string[] {
  const bare = query
    .replace(/"[^"]*"/g, '')
    .replace(/\{[^}]*\}/g, '')
    .replace(/\[[^\]]*\]/g, '')
    .replace(/\b(by|without|on|ignoring|group_left|group_right)\s*\([^)]*\)/g, '')
  return [...bare.matchAll(/[a-zA-Z_:][\w:]*(?!\w*\s*\()/g)]
    .map(([name]) => name)
    .filter(name => !WORDS.has(name))
}

/** The values that a query compares a label with, by = or !=. */
export const valuesIn = (query: string, label: string) =>
  [...query.matchAll(new RegExp(`\\b${label}!?="([^"]*)"`, 'g'))].map(([, value = '']) => value)
