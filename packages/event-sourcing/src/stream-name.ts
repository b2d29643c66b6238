/** Streams are named `{category}-{id}`; a category has no dash, an id may have some. */
export const streamName = (category: string, id: string) => `${category}-${id}`
export const streamId = (stream: string) => stream.slice(stream.indexOf('-') + 1)
export const streamCategory = (stream: string) => stream.slice(0, stream.indexOf('-'))
