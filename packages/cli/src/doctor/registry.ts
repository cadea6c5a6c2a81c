import { ApiError, UnreachableError } from '@shoal/protocol/client'
import type { Context, Registry } from '../context.ts'
import { formatSeconds } from '../terminal/units.ts'
import type { Finding } from './finding.ts'

const patienceMilliseconds = 5_000
/** Signed addresses and sessions go by the clock. */
const mostSkewSeconds = 60

/** Whether the registry answers, knows us, and has the same time. */
export async function registryFindings(context: Context): Promise<Finding[]> {
  const registry = await context.openRegistry()
  const start = performance.now()
  const answer = await fetch(`${registry.address}/healthz`, {
    signal: AbortSignal.timeout(patienceMilliseconds),
  }).catch((error: unknown) => (error instanceof Error ? error : new Error(String(error))))
  if (answer instanceof Error) return [unreachable(registry, answer)]
  const milliseconds = Math.round(performance.now() - start)
  await answer.body?.cancel()
  const { label } = registry
  return [
    answer.ok
      ? { check: 'registry', state: 'ok', text: `${label} answers in ${milliseconds} ms` }
      : {
          check: 'registry',
          state: 'problem',
          text: `${label} answers ${answer.status}`,
          advice: 'Is that a shoal registry? Look at its log, or name another with --registry.',
        },
    ...clock(label, answer.headers.get('date')),
    ...(answer.ok ? [await signIn(registry)] : []),
  ]
}

function unreachable({ label }: Registry, error: Error): Finding {
  const { cause } = error
  const reason = cause instanceof Error && cause.message ? cause.message : error.message
  return {
    check: 'registry',
    state: 'problem',
    text: `No answer from ${label}: ${reason}`,
    advice: 'Start one with shoal registry, or name another: shoal config set registry <address>',
  }
}

function clock(label: string, date: string | null): Finding[] {
  if (date === null) return []
  const seconds = Math.round((Date.now() - Date.parse(date)) / 1000)
  if (Math.abs(seconds) <= mostSkewSeconds) {
    return [{ check: 'clock', state: 'ok', text: `The clock agrees with that of ${label}` }]
  }
  const by = formatSeconds(Math.abs(seconds))
  return [
    {
      check: 'clock',
      state: 'warning',
      text: `The clock here is ${by} ${seconds > 0 ? 'ahead of' : 'behind'} that of ${label}`,
      advice: 'Set the clock, best by NTP: addresses for downloads and sessions go by it.',
    },
  ]
}

async function signIn({ client, label, token }: Registry): Promise<Finding> {
  if (token === undefined) {
    return {
      check: 'sign-in',
      state: 'warning',
      text: `Not signed in to ${label}`,
      advice: 'To publish and like: shoal login',
    }
  }
  try {
    const { username } = await client.getMe()
    return { check: 'sign-in', state: 'ok', text: `Signed in to ${label} as ${username}` }
  } catch (error) {
    if (!(error instanceof ApiError) && !(error instanceof UnreachableError)) throw error
    return {
      check: 'sign-in',
      state: 'problem',
      text: `${label} does not accept the sign-in: ${error.message}`,
      advice: 'Sign in again: shoal login',
    }
  }
}
