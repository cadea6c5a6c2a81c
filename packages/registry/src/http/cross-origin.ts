import type { Step, StepRequest } from '@shoal/server'

const exposedHeaders = [
  'Content-Range',
  'Content-Length',
  'Accept-Ranges',
  'ETag',
  'X-Total-Count',
  'X-Total-Count-Exact',
  'Link',
].join(', ')

const preflightHeaders = {
  'access-control-allow-methods': 'GET, HEAD',
  // WebTorrent sends Cache-Control in requests to web seeds.
  'access-control-allow-headers': 'Range, If-Range, If-None-Match, Accept, Cache-Control',
  'access-control-max-age': 86_400,
}

/** Allows pages of any origin to read what anonymous callers may read, and responds to preflight requests. */
export const crossOrigin: Step<StepRequest> = ({ method }, reply) => {
  reply.header('access-control-allow-origin', '*')
  reply.header('access-control-expose-headers', exposedHeaders)
  return method === 'OPTIONS' ? { status: 204, headers: preflightHeaders } : undefined
}
