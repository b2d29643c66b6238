/** Path of the console with a slash at its end: that of <base>, which the gateway sets. */
export const CONSOLE_PATH = new URL('.', document.baseURI).pathname

/** Path of the REST interface without a slash at its end: the console is served at its path `/console`. */
export const INTERFACE_PATH = CONSOLE_PATH.replace(/\/console\/$/, '')
