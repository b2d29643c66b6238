import { expect, test } from 'vitest'
import { ApiInput } from './apis.ts'

const refusedFields = (value: string) => {
  const input = { name: 'a', displayName: 'A', status: 'ACTIVE', tags: [], url: value, gitUrl: value }
  return ApiInput.safeParse(input).error?.issues.map(({ path }) => path.join('.')) ?? []
}

test.for([
  'https://user:token@git.example/team/repo.git',
  'https://token@git.example/repo.git',
  'HTTP://token@git.example',
  '\u0001 https://token@git.example/',
  'ht\ntps://token@git.example/',
  'https:token@git.example/',
  'https:\\\\token@git.example/',
  'https://user:token@git.example:99999/',
  'git+https://token@git.example/repo.git',
  '//user:token@git.example/',
  'ssh://git:password@git.example/repo.git',
  'ftp://user:password@files.example',
  'user:password@git.example:team/repo.git',
])('an API has no credentials in its url and gitUrl: %s is refused', value => {
  expect(refusedFields(value)).toEqual(['url', 'gitUrl'])
})

test.for([
  'ssh://git@git.example/team/repo.git',
  'ssh://git@git.example:2222/team/repo@2.git',
  'git@git.example:team/repo.git',
  'git@git.example:team/repo:1@2.git',
  'https://git.example:8443/team/repo@1.2?by=a:b@c#d@e',
  '/payments',
  '/users/@me:x@y',
  './a:b@c',
  'payments@2',
])('%s has none and is accepted', value => {
  expect(refusedFields(value)).toEqual([])
})
