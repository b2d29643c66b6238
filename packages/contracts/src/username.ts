import { label } from './primitives.ts'

/** Control, format, private and unassigned characters, among them bidirectional controls, and all that are not displayed. */
const INVISIBLE = /[\p{C}\p{Default_Ignorable_Code_Point}]/u
/** White space other than the space of ASCII. */
const ODD_SPACE = /(?! )\p{Z}/u
/** Scripts of which letters look like letters of another one of them. */
const ALIKE = [
  /\p{Script=Latin}/u,
  /\p{Script=Greek}/u,
  /\p{Script=Cyrillic}/u,
  /\p{Script=Armenian}/u,
  /\p{Script=Cherokee}/u,
  /\p{Script=Coptic}/u,
  /\p{Script=Lisu}/u,
]

const mixesScripts = (value: string) => ALIKE.filter(script => script.test(value)).length > 1
/** Such as fullwidth and mathematical letters, which stand for other letters (UAX #15, "Compatibility equivalence"). */
const hasLetterForms = (value: string) =>
  [...value].some(character => /\p{L}/u.test(character) && character.normalize('NFKC') !== character)

/** The form in which usernames are stored and compared: NFC of Unicode (UAX #15). */
export const normalUsername = (name: string): string => name.normalize('NFC')

/**
 * A username that no other one can be mistaken for by characters that are not displayed or by letters of another script,
 * after Unicode Technical Standard #39, "Mixed-Script Detection".
 */
export const Username = label(255)
  .transform(normalUsername)
  .refine(value => !INVISIBLE.test(value) && !ODD_SPACE.test(value), {
    error: 'must have no invisible characters and no white space but spaces',
  })
  .refine(value => !mixesScripts(value), {
    error: 'must not mix Latin, Greek, Cyrillic or other scripts whose letters look alike',
  })
  .refine(value => !hasLetterForms(value), {
    error: 'must have no letters that are forms of other letters, such as fullwidth ones',
  })
  .meta({ override: { type: 'string', minLength: 1, maxLength: 255 } })
