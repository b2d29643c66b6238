import type { ProjectFile } from './project-files.ts'

/** A path of an author's machine. Paths in URLs and packages do not match. */
const FOLDER = /(?<![\w.~:/$}@-])\/(?:work|root|home|Users)(?![\w-])/
/** The address of a package registry, and settings that lockfiles and npm settings have for one. */
const REGISTRY =
  /https?:\/\/[^\s"'`/]*(?:registry|artifactory|nexus|verdaccio)[^\s"'`/]*|"resolved":\s*"(?:https?|git\+)|_auth(?:Token)?\s*=/i

const PUBLIC_APIS = 'test/demo/data/public-apis.ndjson'

/** The project runs and installs anywhere, so it contains no paths or registries of its authors. */
export function privatePlaces({ path, text }: ProjectFile): string[] {
  // The data of public APIs may contain such texts.
  if (path === PUBLIC_APIS) return []
  return text.split('\n').flatMap((line, index) => {
    const [place] = FOLDER.exec(line) ?? REGISTRY.exec(line) ?? []
    return place ? [`${path}:${index + 1} names ${place}`] : []
  })
}
