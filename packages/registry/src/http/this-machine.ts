import type { IncomingHttpHeaders } from 'node:http'
import { isLoopbackAddress } from '@shoal/core/addresses'
import type { Step, StepRequest } from '@shoal/server'
import type { FastifyBaseLogger, FastifyInstance, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'

declare module 'fastify' {
  interface FastifyRequest {
    /**
     * Whether the request comes from a program on this machine, and was not forwarded by a proxy for another client.
     */
    isFromThisMachine(): boolean
  }
}

/** Distinguishes requests that programs on this machine send from those that a proxy on this machine forwards. */
export const thisMachine = fp(
  async (app: FastifyInstance, { trustProxy }: { trustProxy: boolean }) => {
    app.decorateRequest('isFromThisMachine', function isFromThisMachine(this: FastifyRequest) {
      const { headers, ip, socket } = this
      const isNamed = trustProxy && headers['x-forwarded-for'] !== undefined
      if (isForwarded(headers) && !isNamed) return false
      // A trusted proxy reports the client's address. A loopback address means this machine only if the proxy is on
      // this machine, too.
      return isLoopbackAddress(socket.remoteAddress) && isLoopbackAddress(ip)
    })
  },
)

/** Logs one warning if requests come from a proxy that is not trusted. */
export function proxyWarning(log: Pick<FastifyBaseLogger, 'warn'>): Step<StepRequest> {
  let hasWarned = false
  return ({ headers }) => {
    if (hasWarned || !isForwarded(headers)) return undefined
    hasWarned = true
    log.warn(
      'a proxy is forwarding requests, but SHOAL_TRUST_PROXY is off: all clients of the proxy share one address and its rate limits. Set SHOAL_TRUST_PROXY=on if you operate the proxy',
    )
    return undefined
  }
}

/** Whether the request has headers that proxies add (RFC 7239, RFC 9110 §7.6.3, and their predecessors). */
function isForwarded(headers: IncomingHttpHeaders): boolean {
  for (const name in headers) {
    if (name === 'forwarded' || name === 'via' || name === 'x-real-ip') return true
    if (name.startsWith('x-forwarded-')) return true
  }
  return false
}
