/** Caching: revalidation, compression, and a cache of responses to anonymous callers. */
export { caching } from './caching.ts'
export { chooseEncoding, compress, type Encoding, minCompressedBytes } from './compression.ts'
export { isKnown } from './if-none-match.ts'
export {
  type CacheLimits,
  createResponseCache,
  type ResponseCache,
  responseCaching,
} from './response-cache.ts'
