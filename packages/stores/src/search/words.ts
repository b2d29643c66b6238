import { stemmer } from 'stemmer'
import { foldCase } from '../fold-case.ts'

/** A word of a text, folded: words that differ only in case or in diacritics are equal. */
export interface Word {
  word: string
  /** Its place in the text, in UTF-16 code units; the end is exclusive. */
  start: number
  end: number
  /** Whether it joins several words, as `getuserbyid` does beside get, user, by and id. */
  joined: boolean
  /** As of `stemOf`; the word itself if it joins others. */
  stem: string
}

/** Longer words are cut. */
const LONGEST = 64
/** Letters and digits, with hyphens and underscores between them. */
const COMPOUND = /[\p{L}\p{N}\p{M}]+(?:[-_][\p{L}\p{N}\p{M}]+)*/gu
const ASCII_COMPOUND = /[a-z0-9]+(?:[-_][a-z0-9]+)*/gi
const RUN = /[\p{L}\p{N}\p{M}]+/gu
/** The scripts that are written without spaces. */
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]+/gu
/** The parts of an identifier such as `getHTTPStatus2`. Digits belong to the letters beside them. */
const PART =
  /\p{Lu}+(?!\p{Ll})[\p{M}\p{N}]*|\p{Lu}?[\p{Ll}\p{M}\p{N}]+|[\p{Lo}\p{Lt}\p{Lm}\p{M}\p{N}]+|\p{Lu}/gu
/** A name with a number, such as oauth2, can be found without the number. */
const NUMBERED = /^(\p{L}{3,})\p{N}+$/u
const ASCII = /^[\0-\x7f]*$/
/** Hyphens join up to so many words. */
const JOINED = 6

const folded = (text: string): string => {
  const cut = text.length > LONGEST ? text.slice(0, LONGEST).toWellFormed() : text
  return ASCII.test(cut) ? cut.toLowerCase() : foldCase(cut.normalize('NFKD').replace(/\p{M}+/gu, ''))
}

/** What the inflections of an English word have in common. */
export const stemOf = (word: string): string => (/^[a-z]{3,}$/.test(word) ? stemmer(word) : word)

/**
 * The words of a text. Identifiers (`getUserById`, `send_sms`) are split, and are one joined word as well. Scripts that are
 * written without spaces give pairs of characters.
 * @param ofQuery whether single characters of such scripts are left out if there are pairs
 */
export function wordsOf(text: string, { ofQuery = false } = {}): Word[] {
  const words: Word[] = []
  forEachWord(text, ({ word, from, to, kind, stem }, start) => {
    if (!(ofQuery && kind === 'character'))
      words.push({ word, start: start + from, end: start + to, joined: kind === 'joined', stem })
  })
  return words
}

/** Calls `visit` with each word of a text, and the place that its own is relative to. It makes no object for a word. */
export function forEachWord(text: string, visit: (piece: StemmedPiece, start: number) => void): void {
  for (const { 0: compound, index: start } of text.matchAll(ASCII.test(text) ? ASCII_COMPOUND : COMPOUND))
    for (const piece of piecesOf(compound)) visit(piece, start)
}

interface Piece {
  word: string
  from: number
  to: number
  kind: 'word' | 'joined' | 'character'
}

interface StemmedPiece extends Piece {
  stem: string
}

/** Texts repeat their words: to look them up takes a fifth of the time. */
const known = new Map<string, readonly StemmedPiece[]>()
const KNOWN = 30_000

function piecesOf(compound: string): readonly StemmedPiece[] {
  let pieces = known.get(compound)
  if (!pieces) {
    pieces = [...splitCompound(compound)]
      .filter(({ word }) => word !== '')
      .map(piece => ({ ...piece, stem: piece.kind === 'joined' ? piece.word : stemOf(piece.word) }))
    if (known.size >= KNOWN) known.clear()
    if (compound.length <= LONGEST) known.set(compound, pieces)
  }
  return pieces
}

function* splitCompound(compound: string): Generator<Piece> {
  const runs = [...compound.matchAll(RUN)]
  for (const { 0: run, index } of runs) yield* splitRun(run, index)
  if (runs.length > 1 && runs.length <= JOINED)
    yield { word: folded(compound.replace(/[-_]/g, '')), from: 0, to: compound.length, kind: 'joined' }
}

function* splitRun(run: string, start: number): Generator<Piece> {
  let at = 0
  for (const { 0: unspaced, index } of run.matchAll(UNSPACED)) {
    yield* splitSpaced(run.slice(at, index), start + at)
    yield* splitUnspaced(unspaced, start + index)
    at = index + unspaced.length
  }
  yield* splitSpaced(run.slice(at), start + at)
}

function* splitSpaced(run: string, at: number): Generator<Piece> {
  if (run === '') return
  const parts = [...run.matchAll(PART)]
  for (const { 0: part, index } of parts) {
    const from = at + index
    const [, name] = NUMBERED.exec(part) ?? []
    if (name) yield { word: folded(name), from, to: from + name.length, kind: 'joined' }
    if (parts.length > 1) yield { word: folded(part), from, to: from + part.length, kind: 'word' }
  }
  yield { word: folded(run), from: at, to: at + run.length, kind: parts.length > 1 ? 'joined' : 'word' }
}

function* splitUnspaced(run: string, at: number): Generator<Piece> {
  const characters = [...run]
  let from = at
  for (const [index, character] of characters.entries()) {
    const next = characters[index + 1]
    const to = from + character.length
    yield { word: folded(character), from, to, kind: characters.length > 1 ? 'character' : 'word' }
    if (next !== undefined) yield { word: folded(character + next), from, to: to + next.length, kind: 'word' }
    from = to
  }
}
