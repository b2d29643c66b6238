import { label } from './primitives.ts'

/** Control (including bidirectional), format, private-use and unassigned characters, and others that are not displayed. */
const INVISIBLE = /[\p{C}\p{Default_Ignorable_Code_Point}]/u
/** White space other than the ASCII space. */
const ODD_SPACE = /(?! )\p{Z}/u
/** Scripts that have letters that look like letters of another script in this list. */
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
/** Whether a text has compatibility forms of letters, such as fullwidth letters (UAX #15, "Compatibility equivalence"). */
const hasLetterForms = (value: string) =>
  [...value].some(character => /\p{L}/u.test(character) && character.normalize('NFKC') !== character)

/** The form in which usernames are stored and compared: Unicode NFC (UAX #15). */
export const normalUsername = (name: string): string => name.normalize('NFC')

/**
 * A username without invisible characters and without look-alike letters of other scripts, so that it cannot imitate
 * another username (Unicode Technical Standard #39, "Mixed-Script Detection").
 */
export const Username = label(255)
  .transform(normalUsername)
  .refine(value => !INVISIBLE.test(value) && !ODD_SPACE.test(value), {
    error: 'must have no invisible characters and no white space other than spaces',
  })
  .refine(value => !mixesScripts(value), {
    error: 'must not mix Latin, Greek, Cyrillic or other scripts whose letters look alike',
  })
  .refine(value => !hasLetterForms(value), {
    error: 'must have no letters that are forms of other letters, such as fullwidth ones',
  })
  .meta({ override: { type: 'string', minLength: 1, maxLength: 255 } })
