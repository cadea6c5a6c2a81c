import { DaemonError, DaemonGoneError } from '@shoal/protocol/inference-client'
import type { Context } from '../context.ts'
import { daemonClient, isDaemonAt } from '../daemon/daemon-client.ts'
import { toDaemonFailure } from '../daemon/daemon-error.ts'
import type { DaemonAddress } from '../daemon/daemon-transport.ts'
import { findDaemon, getDefaultPort } from '../daemon/find-daemon.ts'
import { isProcessThere, readDaemonState } from '../daemon/state-file.ts'
import { describeStranger } from '../daemon/stranger.ts'
import { plural } from '../terminal/units.ts'
import type { Finding } from './finding.ts'
import { portFinding } from './port-finding.ts'

/**
 * Checks whether the local API responds and accepts the API key. If no daemon is found, checks whether the default port
 * is free.
 */
export async function daemonFindings(context: Context): Promise<Finding[]> {
  const found = await findDaemon(context)
  const { stranger } = found.from === 'nowhere' ? found : { stranger: undefined }
  if (stranger?.kind === 'earlier') {
    const { text, advice } = describeStranger(stranger)
    return [{ check: 'daemon', state: 'warning', text: text.replace(/\.$/, ''), advice }]
  }
  if (found.from === 'nowhere') {
    const isDaemon = stranger?.kind === 'daemon'
    const port = await portFinding(getDefaultPort(context), {
      name: 'the local API',
      ...(isDaemon && { advice: ` To use that daemon, pass --inference ${stranger.label}.` }),
    })
    return [...(await leftBehind(context)), port]
  }
  const { address } = found
  const label = address.url.replace(/^https?:\/\//, '')
  if (found.from === 'name' && !(await isDaemonAt(address.url))) {
    return [
      {
        check: 'daemon',
        state: 'problem',
        text: `No daemon responds at ${label}`,
        advice:
          'SHOAL_INFERENCE is set to this address. Start a daemon there, or unset the variable.',
      },
    ]
  }
  return [await answering(address, label)]
}

async function answering(address: DaemonAddress, label: string): Promise<Finding> {
  const client = daemonClient(address)
  const start = performance.now()
  try {
    const loaded = await client.listLoaded()
    const ms = Math.round(performance.now() - start)
    const models = `${plural(loaded.length, 'model')} loaded`
    const text = `The daemon at ${label} responded in ${ms} ms, with ${models}`
    return { check: 'daemon', state: 'ok', text }
  } catch (error) {
    if (!(error instanceof DaemonError) && !(error instanceof DaemonGoneError)) throw error
    const { message, hint } = toDaemonFailure(error)
    const text = `Listing the loaded models of the daemon at ${label} failed: ${message}`
    return { check: 'daemon', state: 'problem', text, ...(hint && { advice: hint }) }
  }
}

/** Reports a `daemon.json` whose daemon has exited or does not respond. */
async function leftBehind({ places }: Context): Promise<Finding[]> {
  const state = await readDaemonState(places)
  if (!state) return []
  if (!(await isProcessThere(state.pid))) {
    const text = `A daemon exited unexpectedly (process ${state.pid})`
    const advice = `To see why: shoal logs${state.log_file ? ` (${state.log_file})` : ''}`
    return [{ check: 'daemon', state: 'warning', text, advice }]
  }
  return [
    {
      check: 'daemon',
      state: 'warning',
      text: `Process ${state.pid}, started as a daemon, does not respond at ${state.url}`,
      advice: 'If the process is a hung daemon, kill it. To start a new daemon: shoal serve',
    },
  ]
}
