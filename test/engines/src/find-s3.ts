import { mkdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Found } from './engine.ts'
import { CACHE, isReadable, onPath, run } from './program.ts'
import { startServer } from './server-process.ts'

/** S3Proxy (Apache-2.0) over a folder. It verifies the signatures of requests. */
const VERSION = '3.0.0'
const ARTIFACT = `org.gaul:s3proxy:${VERSION}:jar:jar-with-dependencies`
const DOWNLOAD_MS = 180_000

/** The credentials that the server accepts. */
export const S3_CREDENTIALS = { accessKeyId: 'gantry', secretAccessKey: 'secret-of-the-store' }

const HOW = 'put java 17 or newer and mvn on the PATH, for S3Proxy from Maven Central'

/** Finds an S3 server: S3Proxy, installed with Maven, unless it is cached. Its URL is the endpoint. */
export async function findS3(): Promise<Found> {
  const java = await onPath('java')
  const jar = java && (await installed())
  if (!java || !jar) return { found: false, how: HOW }
  return {
    found: true,
    kind: 'installed',
    description: `S3Proxy ${VERSION}, installed with Maven`,
    start: ({ folder } = {}) =>
      startServer(
        {
          command: '/bin/sh',
          // The settings are a file, which needs the port.
          args: (port, data) => ['-c', START, 'sh', java, jar, data, String(port)],
          url: port => `http://127.0.0.1:${port}`,
          ready: /Started Server@/,
        },
        { folder },
      ),
  }
}

const START = `
mkdir -p "$3/objects" && cat > "$3/s3proxy.conf" <<END
s3proxy.authorization=aws-v4
s3proxy.endpoint=http://127.0.0.1:$4
s3proxy.identity=${S3_CREDENTIALS.accessKeyId}
s3proxy.credential=${S3_CREDENTIALS.secretAccessKey}
jclouds.provider=filesystem-nio2
jclouds.identity=unused
jclouds.credential=unused
jclouds.filesystem.basedir=$3/objects
END
exec "$1" -XX:TieredStopAtLevel=1 -jar "$2" --properties "$3/s3proxy.conf"`

/** The path of the server; undefined, after a line with the reason, if the installation fails. */
async function installed(): Promise<string | undefined> {
  const jar = join(CACHE, `s3proxy-${VERSION}.jar`)
  if (await isReadable(jar)) return jar
  if (!(await onPath('mvn'))) return undefined
  const making = join(CACHE, `making-s3proxy-${process.pid}`)
  try {
    await mkdir(making, { recursive: true })
    const plugin = 'org.apache.maven.plugins:maven-dependency-plugin:3.6.1'
    const doing = `downloading S3Proxy ${VERSION} with Maven, once`
    const copy = [`${plugin}:copy`, `-Dartifact=${ARTIFACT}`, `-DoutputDirectory=${making}`]
    await run('mvn', ['-q', '-B', ...copy], { cwd: making, timeoutMs: DOWNLOAD_MS, doing })
    await rename(join(making, `s3proxy-${VERSION}-jar-with-dependencies.jar`), jar)
    return jar
  } catch (error) {
    process.stderr.write(`S3Proxy could not be installed with mvn: ${(error as Error).message}\n`)
    return undefined
  } finally {
    await rm(making, { recursive: true, force: true })
  }
}
