const failed = new WeakSet<object>()

/** Notes the failed imports of pages: after an update of the service the files of an open console are gone. */
export function watchImports(): void {
  window.addEventListener('vite:preloadError', ({ payload }) => {
    failed.add(payload)
    // By its message the router would take the error for a missing module, and would reload the page at once.
    payload.message = 'A part of the console could not be read.'
  })
}

/** Whether an error is that of a failed import. */
export const isFailedImport = (error: unknown): boolean =>
  typeof error === 'object' && error !== null && failed.has(error)
