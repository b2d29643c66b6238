import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sqliteReadModels } from '@gantry/embedded'
import { expect, test } from 'vitest'
import { type DescribedApi, namesFound, store } from './src/catalogue.ts'
import { ndcg, readJudged } from './src/judged.ts'

const api = (
  name: string,
  displayName: string,
  description: string,
  operations: string[] = [],
): DescribedApi => ({
  name,
  displayName,
  description,
  tags: [],
  title: displayName,
  operations,
})

/** Some of the public APIs, shortened. */
const some = [
  api('spotify.com', 'Spotify Web API', 'Playlists and tracks', ['/users/{user_id}/playlists Get playlists']),
  api('nexmo.com:sms', 'SMS API', 'Send text messages', ['/{format} send-an-sms Send an SMS']),
  api('nexmo.com:conversion', 'Nexmo Conversion API', 'Tell whether an SMS arrived', [
    '/sms smsConversion Tell Nexmo',
  ]),
  api('d7networks.com', 'D7SMS', 'Connects to the SMS gateway', ['/send SendPost SendSMS']),
  api('clicksend.com', 'ClickSend REST API v3', 'Messages', ['/sms/send Send SMS', '/fax/send Send a fax']),
  api('amazonaws.com:rekognition', 'Amazon Rekognition', 'Vision', [
    '/ DetectFaces Detects faces in an image',
  ]),
  api('visualcrossing.com:weather', 'Visual Crossing Weather API', 'Weather forecasts of cities'),
  api('weatherbit.io', 'Weatherbit', 'Weather', [
    '/forecast/daily?city={city} Returns a forecast by city',
    '/current/airquality Returns current air quality',
  ]),
  api('twitter.com:current', 'Twitter API v2', 'Tweets', ['/2/tweets findTweetsById']),
  api('slack.com', 'Slack Web API', 'Channels', ['/chat.postMessage chat_postMessage Sends a message']),
  api('github.com:api.github.com', 'GitHub v3 REST API', 'Repositories', [
    '/repos/{owner}/{repo}/issues List repository issues',
    '/repos/{owner}/{repo}/pulls List pull requests',
  ]),
  api('trello.com', 'Trello', 'Boards and cards', ['/cards List cards']),
]

test('the judged queries of some public APIs are answered in nearly the best order', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'gantry-search-'))
  const readModels = sqliteReadModels({ path: join(folder, 'read-models.db') })
  await store(readModels, some)
  const names = some.map(({ name }) => name)
  // The shortened documents answer the first ones.
  const asked = readJudged('tuned')
    .slice(0, 50)
    .filter(({ g3 = [] }) => names.some(name => g3.includes(name)))
  const gains = await Promise.all(
    asked.map(async one => [one.q, ndcg(one, await namesFound(readModels, one.q), names)]),
  )
  expect(asked.length).toBeGreaterThan(6)
  expect(gains.filter(([, gain]) => Number(gain) < 0.9)).toEqual([])
  await readModels.close()
  await rm(folder, { recursive: true })
})

test('the gain of an order is 1 for the best one, and less for others', () => {
  const judged = { q: '', g3: ['a', 'b*'], g1: ['c'] }
  const names = ['a', 'b1', 'b2', 'c', 'd']
  expect(ndcg(judged, ['b2', 'a', 'b1', 'c', 'd'], names)).toBe(1)
  expect(ndcg(judged, ['d', 'b2', 'a', 'b1', 'c'], names)).toBeCloseTo(0.74, 2)
  expect(ndcg(judged, ['d'], names)).toBe(0)
})
