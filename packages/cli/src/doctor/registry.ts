import { describePage } from '@shoal/core/errors'
import { ApiError, NetworkError } from '@shoal/protocol/client'
import type { Context, Registry } from '../context.ts'
import { toFailure } from '../failures/to-failure.ts'
import { formatSeconds } from '../terminal/units.ts'
import type { Finding } from './finding.ts'

const timeoutMs = 5_000
/** Larger clock differences are reported, because presigned URLs and sessions depend on the time. */
const maxSkewSeconds = 60

/** Checks whether the registry responds, accepts the sign-in, and has a clock that agrees with this machine's. */
export async function registryFindings(context: Context): Promise<Finding[]> {
  const registry = await context.openRegistry()
  const { label, address } = registry
  const start = performance.now()
  try {
    const answer = await registry.transport({
      method: 'GET',
      url: `${address}/healthz`,
      headers: { accept: 'application/json' },
      signal: AbortSignal.timeout(timeoutMs),
    })
    const ms = Math.round(performance.now() - start)
    const isOk = answer.status === 200
    return [
      isOk
        ? { check: 'registry', state: 'ok', text: `${label} responded in ${ms} ms` }
        : {
            check: 'registry',
            state: 'problem',
            text: `${label} returned ${describePage(answer.status, Buffer.from(answer.body).toString())}`,
            advice:
              'If this is a shoal registry, see its log, or that of the server in front of it. Otherwise, specify a registry with --registry.',
          },
      ...clock(label, answer.headers.get('date')),
      ...(isOk ? [await signIn(registry)] : []),
    ]
  } catch (error) {
    return [unreachable(registry, error)]
  }
}

function unreachable({ label, access }: Registry, error: unknown): Finding {
  const isSlow = error instanceof DOMException && error.name === 'TimeoutError'
  if (isSlow) {
    const text = `${label} did not respond within ${timeoutMs / 1000} s`
    return {
      check: 'registry',
      state: 'problem',
      text,
      advice: 'Check the log of the registry and the load on its machine.',
    }
  }
  const { message, hint } = toFailure(error, access)
  return { check: 'registry', state: 'problem', text: message, ...(hint && { advice: hint }) }
}

function clock(label: string, date: string | null): Finding[] {
  if (date === null) return []
  const seconds = Math.round((Date.now() - Date.parse(date)) / 1000)
  if (Math.abs(seconds) <= maxSkewSeconds) {
    return [
      { check: 'clock', state: 'ok', text: `This machine's clock agrees with that of ${label}` },
    ]
  }
  const by = formatSeconds(Math.abs(seconds))
  return [
    {
      check: 'clock',
      state: 'warning',
      text: `This machine's clock is ${by} ${seconds > 0 ? 'ahead of' : 'behind'} that of ${label}`,
      advice:
        'Correct the wrong clock, preferably with NTP. Download URLs and sessions depend on the time.',
    },
  ]
}

async function signIn({ client, label, token, access }: Registry): Promise<Finding> {
  if (token === undefined) {
    return {
      check: 'sign-in',
      state: 'warning',
      text: `Not signed in to ${label}`,
      advice: 'To publish or like models: shoal login',
    }
  }
  try {
    const { username } = await client.getMe()
    return { check: 'sign-in', state: 'ok', text: `Signed in to ${label} as ${username}` }
  } catch (error) {
    if (!(error instanceof ApiError) && !(error instanceof NetworkError)) throw error
    const { message, hint } = toFailure(error, access)
    const text = `Checking the sign-in to ${label} failed: ${message}`
    return { check: 'sign-in', state: 'problem', text, ...(hint && { advice: hint }) }
  }
}
