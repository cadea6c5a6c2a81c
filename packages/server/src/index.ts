/** What the registry and the daemon have in common as HTTP servers. */
export { drainOf } from './drain.ts'
export { makeApp } from './make-app.ts'
export { refuseDeepBodies } from './nesting.ts'
