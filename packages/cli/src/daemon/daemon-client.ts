/** Creates the CLI's client for the inference daemon, and checks whether a daemon responds. */
import {
  DaemonError,
  DaemonGoneError,
  type InferenceClient,
  inferenceClient,
} from '@shoal/protocol/inference-client'
import { type DaemonAddress, daemonTransport, numericUrl } from './daemon-transport.ts'
import { proveConnection } from './proven-connection.ts'

export const daemonClient = (address: DaemonAddress): InferenceClient =>
  inferenceClient(daemonTransport(address), () => address.apiKey)

/** Timeout for a daemon's response, which may be slow because the machine is busy computing. */
const healthTimeoutMs = 2_000

/** Whether a shoal daemon responds at `url`. Ollama, which uses the same port, has no `/healthz`. */
export async function isDaemonAt(url: string, signal?: AbortSignal): Promise<boolean> {
  const timeout = AbortSignal.timeout(healthTimeoutMs)
  return (await healthAt(url, combineSignals(timeout, signal)))?.status === 'ok'
}

/**
 * The result of a request to a daemon's address: a response from the daemon, a timeout, or anything else, such as a
 * closed port.
 */
export type Answerer = 'daemon' | 'silence' | 'other'

/** Requests a proof that only the daemon with this token can give. Returns the result of the request. */
export async function askForProof(
  url: string,
  token: string,
  signal?: AbortSignal,
): Promise<Answerer> {
  try {
    const { agent } = await proveConnection(numericUrl(url), token, signal)
    agent.destroy()
    return 'daemon'
  } catch (error) {
    if (!(error instanceof Error)) throw error
    return isTimeout(error) ? 'silence' : 'other'
  }
}

/** Checks whether the daemon at `url` has this process ID. Used for daemons that have no token. */
export async function askForProcess(
  url: string,
  pid: number,
  signal?: AbortSignal,
): Promise<Answerer> {
  const timeout = AbortSignal.timeout(healthTimeoutMs)
  const health = await healthAt(url, combineSignals(timeout, signal))
  if (health?.status === 'ok' && health.pid === pid) return 'daemon'
  return health === undefined && timeout.aborted ? 'silence' : 'other'
}

const combineSignals = (timeout: AbortSignal, signal?: AbortSignal) =>
  signal ? AbortSignal.any([signal, timeout]) : timeout

/** The error of an aborted request has the signal's reason as its cause. */
const isTimeout = ({ cause }: Error) => cause instanceof Error && cause.name === 'TimeoutError'

async function healthAt(
  url: string,
  signal: AbortSignal,
): Promise<{ status?: string; pid?: number } | undefined> {
  try {
    return await daemonClient({ url, apiKey: undefined }).health(signal)
  } catch (error) {
    if (error instanceof DaemonError || error instanceof DaemonGoneError) return undefined
    if (signal.aborted) return undefined
    throw error
  }
}
