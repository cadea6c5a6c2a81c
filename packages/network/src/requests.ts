/** Functions for requests that are not API calls: chunks, uploads and torrents. */
export { type Network, openNetwork } from './dispatcher.ts'
export { exchange } from './exchange.ts'
export { useForFetch } from './global-fetch.ts'
export { readBody } from './read-body.ts'
export { readHead } from './read-head.ts'
export { followRedirects, type Redirect, redirectRefused, type Step } from './redirect.ts'
export { sendRequest } from './send-request.ts'
export { type Asked, failureOfAnswer, toNetworkFailure } from './to-network-failure.ts'
