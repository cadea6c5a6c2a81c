/** What the registry and the daemon have in common as HTTP servers. */
export { drainOf } from './drain.ts'
export { makeApp } from './make-app.ts'
export { refuseDeepBodies } from './nesting.ts'
export { pageHeaders } from './page-headers.ts'
export { serveAssets } from './serve-assets.ts'
export { type ServerMetrics, serverMetrics } from './server-metrics.ts'
