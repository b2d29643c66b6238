/** Loaded before the service, has its clock go LATER_MS ahead: what it gave out before expires. */
const ahead = Number(process.env.LATER_MS)
const present = Date.now
Date.now = () => present() + ahead
globalThis.Date = new Proxy(Date, {
  construct: (date, given) => Reflect.construct(date, given.length === 0 ? [Date.now()] : given),
})
