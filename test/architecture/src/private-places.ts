import type { ProjectFile } from './project-files.ts'

/** A path of the machine that something was made on; not the path of a URL, nor of a package. */
const FOLDER = /(?<![\w.~:/$}@-])\/(?:work|root|home|Users)(?![\w-])/
/** The address of a package registry, and what a lockfile or a settings file has of one. */
const REGISTRY =
  /https?:\/\/[^\s"'`/]*(?:registry|artifactory|nexus|verdaccio)[^\s"'`/]*|"resolved":\s*"(?:https?|git\+)|_auth(?:Token)?\s*=/i

const PUBLIC_APIS = 'packages/demo/data/public-apis.ndjson'

/** The project runs anywhere and installs from any registry: it names no place that only its makers have. */
export function privatePlaces({ path, text }: ProjectFile): string[] {
  // What the public APIs of the directory call themselves is theirs.
  if (path === PUBLIC_APIS) return []
  return text.split('\n').flatMap((line, index) => {
    const [place] = FOLDER.exec(line) ?? REGISTRY.exec(line) ?? []
    return place ? [`${path}:${index + 1} names ${place}`] : []
  })
}
