/** Whether the page can copy. Pages that are served over HTTP without TLS cannot; their values are selected by hand. */
export const hasClipboard: boolean = 'clipboard' in navigator
