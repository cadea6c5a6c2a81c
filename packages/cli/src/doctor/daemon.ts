import type { Context } from '../context.ts'
import { daemonClient, isDaemonAt } from '../daemon/daemon-client.ts'
import { DaemonError, DaemonGoneError, failureOfDaemon } from '../daemon/daemon-error.ts'
import { apiKeyIn, findDaemonAddress } from '../daemon/find-daemon.ts'
import { isProcessThere, readDaemonState } from '../daemon/state-file.ts'
import { plural } from '../terminal/units.ts'
import type { Finding } from './finding.ts'
import { portFinding } from './port-finding.ts'

const usualPort = 11_434

/** Whether the local API answers, and takes our key; where nobody does, whether it could be started. */
export async function daemonFindings(context: Context): Promise<Finding[]> {
  const { url, from } = await findDaemonAddress(context)
  const label = url.replace(/^https?:\/\//, '')
  if (from === 'state' || (await isDaemonAt(url))) return [await answering(context, url, label)]
  if (from === 'name') {
    return [
      {
        check: 'daemon',
        state: 'problem',
        text: `No daemon answers at ${label}`,
        advice: 'SHOAL_INFERENCE names it. Start it there, or unset that.',
      },
    ]
  }
  return [...(await leftBehind(context)), await portFinding(usualPort, 'the local API')]
}

async function answering(context: Context, url: string, label: string): Promise<Finding> {
  const client = daemonClient({ url, apiKey: apiKeyIn(context) })
  const start = performance.now()
  try {
    const loaded = await client.listLoaded()
    const milliseconds = Math.round(performance.now() - start)
    const models = `${plural(loaded.length, 'model')} loaded`
    const text = `The daemon at ${label} answers in ${milliseconds} ms, with ${models}`
    return { check: 'daemon', state: 'ok', text }
  } catch (error) {
    if (!(error instanceof DaemonError) && !(error instanceof DaemonGoneError)) throw error
    const { message, hint } = failureOfDaemon(error)
    const text = `The daemon at ${label} does not answer as it should: ${message}`
    return { check: 'daemon', state: 'problem', text, ...(hint && { advice: hint }) }
  }
}

/** The note of a daemon that is gone, or hangs. */
async function leftBehind({ places }: Context): Promise<Finding[]> {
  const state = await readDaemonState(places)
  if (!state) return []
  if (!(await isProcessThere(state.pid))) {
    const text = `A daemon ended without a word (process ${state.pid})`
    const advice = `shoal logs may say why${state.log_file ? `: ${state.log_file}` : ''}.`
    return [{ check: 'daemon', state: 'warning', text, advice }]
  }
  return [
    {
      check: 'daemon',
      state: 'warning',
      text: `Process ${state.pid}, once a daemon, does not answer at ${state.url}`,
      advice: 'If it is one and hangs, end it; otherwise shoal serve starts a new one.',
    },
  ]
}
