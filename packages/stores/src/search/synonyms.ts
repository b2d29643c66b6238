import { stemOf } from './words.ts'

/** Words that people use for the same thing, one group a line, and words of one verb that have different stems. */
const GROUPS = `
add create
delete remove
find lookup query search
buy purchase
shop store
image photo picture
film movie
phone telephone
car vehicle
rail railway train
accommodation hotel
football soccer
job vacancy
doctor physician
drug medicine
clinical health medical
currency forex
crypto cryptocurrency
email mail
link url
wifi wireless
authentication login signin
database db
kubernetes k8s
machine vm
analysis analytics analyze
arrival arrive
classification classify
compare comparison
conversion convert converter
depart departure
notification notify
pay payment
recognition recognize
ship shipment shipping
short shorten shortener
subscribe subscription
transcribe transcription
translate translation translator`

const synonyms = new Map<string, string[]>()
for (const group of GROUPS.trim().split('\n')) {
  const stems = new Set(group.split(' ').map(stemOf))
  for (const stem of stems)
    synonyms.set(
      stem,
      [...stems].filter(other => other !== stem),
    )
}

/** The stems of words that mean about the same as one with this stem, in English. */
export const synonymsOf = (stem: string): readonly string[] => synonyms.get(stem) ?? []
