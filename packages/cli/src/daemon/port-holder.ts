import { isErrno } from '@shoal/files'

const timeoutMs = 1_000

export type PortHolder = 'daemon' | 'registry' | 'Ollama' | 'other'

/** Returns the program that responds on a local port, or undefined if none does. The requests contain no secrets. */
export async function findPortHolder(
  port: number,
  signal?: AbortSignal,
): Promise<PortHolder | undefined> {
  const address = `http://127.0.0.1:${port}`
  try {
    // Checks for a daemon first, because a daemon also returns `Ollama is running`, for programs that expect this text.
    const health = await get(`${address}/healthz`, signal)
    if (/^\s*\{\s*"status"\s*:\s*"ok"/.test(health)) {
      return health.includes('"pid"') ? 'daemon' : 'registry'
    }
    return (await get(`${address}/`, signal)).includes('Ollama is running') ? 'Ollama' : 'other'
  } catch (error) {
    const cause = error instanceof Error ? error.cause : undefined
    // Any other error is taken to mean that some program is listening.
    return isErrno(cause, 'ECONNREFUSED') ? undefined : 'other'
  }
}

/** Names for use in sentences. `daemon` is never the user's own daemon, which has been ruled out. */
export const holderName: Record<PortHolder, string> = {
  daemon: 'a shoal daemon that belongs to another user or another SHOAL_HOME',
  registry: 'a shoal registry',
  Ollama: 'Ollama',
  other: 'another program',
}

/** Requests HTML. At `/`, a shoal daemon then returns its chat page, whereas Ollama returns its usual text. */
async function get(url: string, signal?: AbortSignal): Promise<string> {
  const timeout = AbortSignal.timeout(timeoutMs)
  const response = await fetch(url, {
    headers: { accept: 'text/html' },
    signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
  })
  return (await response.text()).slice(0, 1_000)
}
