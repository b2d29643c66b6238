import manifest from '../package.json' with { type: 'json' }

/** The release of this process, e.g. 1.4.0. */
export const RELEASE: string = manifest.version

/** Header of health checks with the release of the process. */
export const RELEASE_HEADER = 'x-gantry-release'
