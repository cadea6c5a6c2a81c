/** For whoever makes requests by hand: chunks, uploads and torrents. */
export { type Network, openNetwork } from './dispatcher.ts'
export { failureOf, failureOfAnswer } from './failure-of.ts'
export { useForFetch } from './global-fetch.ts'
export { maxRedirects, redirectRefused, redirectTarget } from './redirect.ts'
export { sendRequest } from './send-request.ts'
