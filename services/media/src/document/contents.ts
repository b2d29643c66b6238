import type { DocumentKind } from '@gantry/contracts'
import type { Log } from '@gantry/event-sourcing'
import type { StoredBytes } from '../bytes/bytes.ts'
import { type Checked, contentWith, DocumentInvalid, EXTRACTION } from '../check/checked.ts'
import type { Checker } from './checker.ts'

/** What documents say, and their findings, by the hash of their bytes: made once, and again when the extraction changes. */
export interface Contents {
  /** Stores what a check has found. */
  keep(sha256: string, checked: Checked): Promise<void>
  /**
   * What a stored document says; nothing if this release finds it invalid.
   * @throws BytesLost, and errors that may be over in the next call, such as Refusal too-many-checks
   */
  of(document: { sha256: string; size: number; kind: DocumentKind }): Promise<Checked>
}

const nameOf = (kind: DocumentKind) => `${EXTRACTION}-${kind}`

export function documentContents(bytes: StoredBytes, checker: Checker, log: Log): Contents {
  const keep = (sha256: string, { about: _, ...checked }: Checked) =>
    bytes.putDerived(nameOf(checked.kind), sha256, Buffer.from(JSON.stringify(checked)))
  return {
    keep,
    async of({ sha256, size, kind }) {
      const derived = await bytes.getDerived(nameOf(kind), sha256)
      if (derived) return JSON.parse(Buffer.from(derived).toString()) as Checked
      try {
        const checked = await checker.check({ size, read: () => bytes.get(sha256) }, { kind })
        await keep(sha256, checked)
        return checked
      } catch (error) {
        if (!(error instanceof DocumentInvalid)) throw error
        const reason = error.errors[0]?.message
        log.warn({ sha256, kind, reason }, 'a stored document is shown without its content')
        return { kind, mediaType: '', content: contentWith(), findings: [] }
      }
    },
  }
}
