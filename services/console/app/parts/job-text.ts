import type { Job } from './jobs.ts'
import { statusText } from './statuses.tsx'

/** What a job does, e.g. `Tag + reviewed, status Active on 2 APIs`. */
export function jobText({ type, total, change }: Pick<Job, 'type' | 'total' | 'change'>): string {
  const count = total.toLocaleString('en')
  if (type === 'IMPORT') return `Import of ${count} ${total === 1 ? 'item' : 'items'}`
  const { tags, status, owner, delete: deletion } = change ?? {}
  const parts = [
    ...(tags?.add.length ? [`${tagWord(tags.add)} + ${tags.add.join(', ')}`] : []),
    ...(tags?.remove.length ? [`${tagWord(tags.remove)} − ${tags.remove.join(', ')}`] : []),
    ...(status ? [`status ${statusText(status)}`] : []),
    ...(owner ? ['new owner'] : []),
    ...(deletion ? [deletion.undeploy ? 'undeployment and deletion' : 'deletion'] : []),
  ]
  const text = parts.join(', ') || 'bulk change'
  return `${text[0]?.toUpperCase()}${text.slice(1)} on ${count} ${total === 1 ? 'API' : 'APIs'}`
}

const tagWord = (tags: readonly string[]) => (tags.length === 1 ? 'tag' : 'tags')

/** How long a job ran, e.g. `0.2 s` or `3 min 5 s`; undefined until it has ended. */
export function durationText({ startedAt, finishedAt }: Job): string | undefined {
  if (!startedAt || !finishedAt) return undefined
  const seconds = (Date.parse(finishedAt) - Date.parse(startedAt)) / 1_000
  if (seconds < 60) return `${Math.max(0.1, Math.round(seconds * 10) / 10)} s`
  return `${Math.floor(seconds / 60)} min ${Math.floor(seconds % 60)} s`
}
