/** Preloaded into a service process: sets its clock ahead by LATER_MS, so that earlier tokens and keys expire. */
const ahead = Number(process.env.LATER_MS)
const present = Date.now
Date.now = () => present() + ahead
globalThis.Date = new Proxy(Date, {
  construct: (date, given) => Reflect.construct(date, given.length === 0 ? [Date.now()] : given),
})
