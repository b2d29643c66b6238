export { Answered, type Client, client, logIn } from './client.ts'
export { draw } from './drawing.ts'
export { type Filled, fill } from './fill.ts'
export { type PublicApi, readPublicApis } from './public-apis.ts'
