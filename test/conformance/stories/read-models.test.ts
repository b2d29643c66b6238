import { isDeepStrictEqual } from 'node:util'
import { describe, expect, test } from 'vitest'
import { createApi } from '../src/apis.ts'
import { admin, eventually, unique } from '../src/gantry.ts'

interface ReadModel {
  name: string
  generation: number
  status: 'LIVE' | 'WAITING' | 'BUILDING'
  lagSeconds: number
  quarantinedStreams: number
  lastRebuild: { outcome: string; endedAt: string } | null
}

const NAME = 'catalog.projector'
const readModel = async () => {
  const all = (await admin.get('/readModels')).as<ReadModel[]>(200)
  const found = all.find(({ name }) => name === NAME)
  if (!found) throw new Error(`there is no ${NAME} among ${all.map(({ name }) => name)}`)
  return found
}
const found = async (name: string) => {
  const { content } = (await admin.get('/apis', { name })).as<{ content: { id: string }[] }>(200)
  return content.map(({ id }) => id)
}

describe('the rebuild of a read model', () => {
  test('ends with a new generation; what is written meanwhile is in every list', async () => {
    const before = await readModel()
    const [name, later] = [unique('before'), unique('meanwhile')]
    const api = await createApi({ name })
    const asked = (await admin.post(`/readModels/${NAME}/rebuild`)).as<ReadModel>(202)
    expect(['WAITING', 'BUILDING', 'LIVE']).toContain(asked.status)
    const made = await createApi({ name: later })
    const wrong: string[][][] = []
    await eventually(async () => {
      const lists = [await found(name), await found(later)]
      if (!isDeepStrictEqual(lists, [[api.id], [made.id]])) wrong.push(lists)
      const now = await readModel()
      expect(now).toMatchObject({ status: 'LIVE', lastRebuild: { outcome: 'COMPLETED' } })
      expect(now.generation).toBeGreaterThan(before.generation)
    })
    expect([await found(name), await found(later)]).toEqual([[api.id], [made.id]])
    expect(wrong).toEqual([])
  })

  test('cannot be cancelled when none runs', async () => {
    await eventually(async () => expect((await readModel()).status).toBe('LIVE'))
    ;(await admin.post(`/readModels/${NAME}/cancel`)).refused(409, 'rebuild-not-running')
  })
})
