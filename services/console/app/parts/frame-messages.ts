/** The place of an operation in a document. */
export interface OperationPlace {
  method: string
  path: string
  operationId?: string | null | undefined
}

export type Theme = 'light' | 'dark'

/** A document for the frame that shows it. */
export interface ShownDocument {
  kind: string
  mediaType: string
  text: string
}

/** A request that the person sends from a document. */
export interface DocumentRequest {
  method: string
  url: string
  headers: [string, string][]
  body: ArrayBuffer | null
}

/** The response to it, or why there is none. */
export type DocumentResponse =
  | { status: number; statusText: string; headers: [string, string][]; body: ArrayBuffer }
  | { error: string }

/** What the console tells the frame of a document. */
export type ToFrame =
  | { type: 'show'; document: ShownDocument; theme: Theme; operation?: OperationPlace | undefined }
  | { type: 'theme'; theme: Theme }
  | { type: 'open'; operation: OperationPlace }
  | { type: 'response'; id: number; response: DocumentResponse }

/** What the frame of a document tells the console. The document may be hostile: check each value. */
export type FromFrame =
  | { type: 'ready' }
  | { type: 'shown' }
  | { type: 'failed'; reason: string }
  | { type: 'link'; href: string }
  | { type: 'request'; id: number; request: DocumentRequest }
