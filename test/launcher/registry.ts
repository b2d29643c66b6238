import { createHash } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'
import { onTestFinished } from 'vitest'

/** An npm registry with two packages, `crate` and `tool` 1.0.0. It answers once it is open. */
export interface Registry {
  readonly url: string
  /** Integrity of `crate`. */
  readonly integrity: string
  readonly toolIntegrity: string
  /** Number of requests so far. */
  readonly requests: () => number
  /** Answers the waiting requests and all later ones. */
  readonly open: () => void
}

/** Starts a registry on a free port of 127.0.0.1. Default: open. */
export async function registry({ opened = true } = {}): Promise<Registry> {
  const [crate, tool] = [packed('crate'), packed('tool')]
  const gate = Promise.withResolvers<void>()
  let requests = 0
  let url = ''

  const server = createServer(async (request, response) => {
    requests++
    await gate.promise
    const { name, tarball, integrity } = request.url?.startsWith('/tool') ? tool : crate
    if (request.url?.endsWith('.tgz')) return response.end(tarball)
    const dist = { tarball: `${url}/${name}/-/${name}-1.0.0.tgz`, integrity }
    const versions = { '1.0.0': { name, version: '1.0.0', dist } }
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ name, 'dist-tags': { latest: '1.0.0' }, versions }))
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  if (opened) gate.resolve()
  return {
    url,
    integrity: crate.integrity,
    toolIntegrity: tool.integrity,
    requests: () => requests,
    open: gate.resolve,
  }
}

function packed(name: string) {
  const tarball = gzipSync(tar('package/package.json', JSON.stringify({ name, version: '1.0.0' })))
  return { name, tarball, integrity: `sha512-${createHash('sha512').update(tarball).digest('base64')}` }
}

/** A tar archive of one file (POSIX.1-1988 "ustar"). */
function tar(path: string, content: string): Buffer {
  const header = Buffer.alloc(512)
  const octal = (value: number, length: number) => value.toString(8).padStart(length - 1, '0')
  header.write(path, 0)
  header.write(octal(0o644, 8), 100)
  header.write(octal(0, 8), 108)
  header.write(octal(0, 8), 116)
  header.write(octal(Buffer.byteLength(content), 12), 124)
  header.write(octal(0, 12), 136)
  header.write('        ', 148)
  header.write('0', 156)
  header.write('ustar\0' + '00', 257)
  const sum = header.reduce((total, byte) => total + byte, 0)
  header.write(`${octal(sum, 7)}\0 `, 148)
  const body = Buffer.alloc(Math.ceil(Buffer.byteLength(content) / 512) * 512)
  body.write(content)
  return Buffer.concat([header, body, Buffer.alloc(1024)])
}
