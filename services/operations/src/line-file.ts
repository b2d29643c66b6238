import { type FileHandle, open } from 'node:fs/promises'
import { CommandFailed } from './command.ts'

interface Line {
  /** Without the line feed. */
  bytes: Buffer
  /** Length of the file up to the end of the line, with the line feed. */
  end: number
  /** Whether a line feed follows. */
  isComplete: boolean
}

const NEWLINE = 0x0a
/** Bytes that are read together. */
const BLOCK = 1_048_576
const LONGEST_LINE = 16 * BLOCK

/** A file of lines, to which lines are appended. Its errors are CommandFailed. */
export class LineFile {
  readonly path: string
  readonly #file: FileHandle
  #hasFailed = false

  private constructor(path: string, file: FileHandle) {
    this.path = path
    this.#file = file
  }

  /** Opens a file, or creates one that only this user can read. */
  static async open(path: string): Promise<LineFile> {
    const file = await open(path, 'a+', 0o600).catch(error => {
      throw new CommandFailed(`cannot write ${path}: ${(error as Error).message}`)
    })
    return new LineFile(path, file)
  }

  /** The first bytes, up to a number. */
  async beginning(length: number): Promise<Buffer> {
    const { size } = await this.#done('read', this.#file.stat())
    return this.#read(0, Math.min(size, length))
  }

  /** The lines from the last one to the first. Only the last one can be incomplete. */
  async *backwards(): AsyncGenerator<Line> {
    let { size: end } = await this.#done('read', this.#file.stat())
    let from = end
    let bytes: Buffer = Buffer.alloc(0)
    while (end > 0) {
      const before = bytes.length < 2 ? -1 : bytes.lastIndexOf(NEWLINE, bytes.length - 2)
      if (before < 0 && from > 0) {
        if (bytes.length > LONGEST_LINE)
          throw new CommandFailed(`${this.path} is no export: it has a line of over 16 MiB`)
        const next = Math.max(0, from - BLOCK)
        bytes = Buffer.concat([await this.#read(next, from), bytes])
        from = next
        continue
      }
      const line = bytes.subarray(before + 1)
      const isComplete = line.at(-1) === NEWLINE
      yield { bytes: isComplete ? line.subarray(0, -1) : line, end, isComplete }
      bytes = bytes.subarray(0, before + 1)
      end -= line.length
    }
  }

  async append(bytes: Uint8Array): Promise<void> {
    await this.#done('write', this.#file.appendFile(bytes))
  }

  /** Removes what follows the first bytes. */
  async truncate(length: number): Promise<void> {
    await this.#done('write', this.#file.truncate(length))
  }

  /** Writes everything to the disk and closes the file. After a failure it only closes it. */
  async close(): Promise<void> {
    try {
      if (!this.#hasFailed) await this.#done('write', this.#file.datasync())
    } finally {
      await this.#done('write', this.#file.close())
    }
  }

  /** Closes a file that cannot be used. The reason is thrown, not an error of the end. */
  async abandon(): Promise<void> {
    await this.#file.close().catch(() => {})
  }

  async #read(from: number, to: number): Promise<Buffer> {
    const bytes = Buffer.alloc(to - from)
    for (let filled = 0; filled < bytes.length; ) {
      const reading = this.#file.read(bytes, filled, bytes.length - filled, from + filled)
      const { bytesRead } = await this.#done('read', reading)
      if (bytesRead === 0)
        throw new CommandFailed(`cannot read ${this.path}: another process has shortened it`)
      filled += bytesRead
    }
    return bytes
  }

  async #done<Result>(what: 'read' | 'write', work: Promise<Result>): Promise<Result> {
    try {
      return await work
    } catch (error) {
      this.#hasFailed = true
      throw new CommandFailed(`cannot ${what} ${this.path}: ${(error as Error).message}`)
    }
  }
}
