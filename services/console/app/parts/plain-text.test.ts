import { expect, test } from 'vitest'
import { plainText } from './plain-text.ts'

test.for([
  ['# Weather\n\nOf **today** and *tomorrow*', 'Weather\n\nOf today and tomorrow'],
  ['See [the guide](https://example.com/a_b "Guide") or `GET /a`', 'See the guide or GET /a'],
  ['<p>First</p>\n- one\n- two\n> said', 'First\none\ntwo\nsaid'],
  ['A group, see <a href="https://example.com/gro…', 'A group, see '],
  ['#Documentation of it\n>ℹ Guide', 'Documentation of it\nℹ Guide'],
  ['#1 in > out, a#b', '#1 in > out, a#b'],
  ['Q&amp;A&nbsp;&#8211; it&#x27;s &lt;b&gt; &other; &amp', "Q&A – it's <b> &other; &amp"],
  ['snake_case_name, 2 * 3 and a < b stay', 'snake_case_name, 2 * 3 and a < b stay'],
] as const)('%j reads %j without its marks', ([text, expected]) => {
  expect(plainText(text).text).toBe(expected)
})

test('the matches of a search move with the text', () => {
  const text = 'A&nbsp;**bold** [link](https://bold.example) here'
  const place = (word: string) => [text.indexOf(word), text.indexOf(word) + word.length]
  const found = plainText(text, [place('bold'), place('link'), place('https'), place('here')])
  expect(found.ranges.map(([start, end]) => found.text.slice(start, end))).toEqual(['bold', 'link', 'here'])
})
