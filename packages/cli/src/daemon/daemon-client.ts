/** The typed client of the inference daemon, as far as the command line needs it. */
import { callForJson, type DaemonAddress, numericUrl } from './daemon-call.ts'
import { DaemonError, DaemonGoneError } from './daemon-error.ts'
import { proveConnection } from './proven-connection.ts'
import { type ChatRequest, streamChat } from './stream-chat.ts'

/** One model that the daemon has loaded, as `GET /api/ps` tells it. */
export type LoadedModel = {
  name: string
  model: string
  details?: { quantization_level?: string }
  context_length: number
  file_size_bytes: number
  memory_bytes: number
  /** That run or wait. */
  requests: number
  loaded_at: string
  /** Null for a model that stays. */
  expires_at: string | null
  /** Null while it answers. */
  idle_seconds: number | null
}

/** How the daemon shares what is here, as `GET /api/sharing` tells it. */
export type SharingStanding = {
  enabled: boolean
  /** Why nothing can be shared any more. */
  error: string | null
  /** The folder is being looked at for the first time. */
  looking: boolean
  paused: boolean
  port: number | null
  bytes_per_second: number
  files: { name: string; peers: number; uploaded_bytes: number; done: boolean }[]
}

export type DaemonClient = ReturnType<typeof daemonClient>

export function daemonClient(address: DaemonAddress) {
  const { url } = address
  return {
    url,

    /** Whether the model is among the files of the daemon's machine. */
    async hasModel(model: string, signal?: AbortSignal): Promise<boolean> {
      const path = `/v1/models/${encodeURIComponent(model)}`
      try {
        await callForJson(address, { method: 'GET', path, signal })
        return true
      } catch (error) {
        if (error instanceof DaemonError && error.code === 'model_not_found') return false
        throw error
      }
    },

    async listLoaded(signal?: AbortSignal): Promise<LoadedModel[]> {
      const call = { method: 'GET', path: '/api/ps', signal } as const
      const { models } = await callForJson<{ models: LoadedModel[] }>(address, call)
      return models
    },

    /** Resolves when the model is ready. `keepAlive` is a time such as `5m`, or -1 for ever. */
    load(
      model: string,
      { keepAlive, signal }: { keepAlive?: string | number; signal?: AbortSignal } = {},
    ) {
      const body = { model, ...(keepAlive !== undefined && { keep_alive: keepAlive }) }
      return callForJson<LoadedModel>(address, { method: 'POST', path: '/api/load', body, signal })
    },

    unload(model: string) {
      const call = { method: 'POST', path: '/api/unload', body: { model } } as const
      return callForJson<{ model: string; unloaded: boolean }>(address, call)
    },

    sharing: () => callForJson<SharingStanding>(address, { method: 'GET', path: '/api/sharing' }),

    setSharing(paused: boolean) {
      const call = { method: 'POST', path: '/api/sharing', body: { paused } } as const
      return callForJson<SharingStanding>(address, call)
    },

    chat: (request: ChatRequest, signal: AbortSignal) => streamChat(address, request, signal),
  }
}

/** How long something that lives may take to say so, on a machine that is busy computing. */
const patienceMilliseconds = 2_000

/** Whether a daemon of shoal's answers there. Ollama, which takes the same port, has no `/healthz`. */
export async function isDaemonAt(url: string): Promise<boolean> {
  return (await healthAt(url))?.status === 'ok'
}

/** Whether the daemon with this token answers there, and nobody who took its port. */
export async function isProvenAt(url: string, token: string): Promise<boolean> {
  try {
    const { agent } = await proveConnection(numericUrl(url), token)
    agent.destroy()
    return true
  } catch (error) {
    if (error instanceof Error) return false // nobody there, somebody else, or no answer in time
    throw error
  }
}

/** Whether a daemon that cannot prove anything answers there and says that it is this process. */
export async function isProcessDaemonAt(url: string, pid: number): Promise<boolean> {
  const health = await healthAt(url)
  return health?.status === 'ok' && health.pid === pid
}

async function healthAt(url: string): Promise<{ status?: string; pid?: number } | undefined> {
  const signal = AbortSignal.timeout(patienceMilliseconds)
  try {
    const call = { method: 'GET', path: '/healthz', signal } as const
    return await callForJson({ url, apiKey: undefined }, call)
  } catch (error) {
    if (error instanceof DaemonError || error instanceof DaemonGoneError) return undefined
    if (signal.aborted) return undefined
    throw error
  }
}
