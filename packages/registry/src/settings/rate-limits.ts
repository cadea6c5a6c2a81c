import { list, type Parse } from '@shoal/core/settings'
import { parseDuration } from '@shoal/core/units'

export type RateLimits = Record<RateLimitClass, { max: number; windowSeconds: number }>
export type RateLimitClass = 'auth' | 'write' | 'read' | 'chunk' | 'tracker'

export const defaultRateLimits =
  'auth=30/min,write=600/min,read=3000/min,chunk=60000/min,tracker=6000/min'

/** Parses rate limits. Omitted classes keep their default limits. Returns undefined for `off` (no limits). */
export const parseRateLimits: Parse<RateLimits | undefined> = (text, refuse) => {
  if (text === 'off') return undefined
  const limits = parseEach(`${defaultRateLimits},${text}`, refuse)
  return Object.fromEntries(limits) as RateLimits
}

const parseEach = list((item, refuse) => {
  const [, name = '', max, window = ''] =
    /^(auth|write|read|chunk|tracker)=(\d+)\/(.+)$/.exec(item) ?? []
  const windowMs = parseDuration(window) ?? parseDuration(`1${window}`) ?? 0 // `min` means `1min`
  if (Number(max) >= 1 && windowMs >= 1_000 && Number.isFinite(windowMs)) {
    return [name, { max: Number(max), windowSeconds: windowMs / 1_000 }] as const
  }
  return refuse(`must look like ${defaultRateLimits}, or be "off"; "${item}" is not valid`)
})
