import { isErrno } from '../terminal/errno.ts'

const timeoutMs = 1_000

export type PortHolder = 'daemon' | 'registry' | 'Ollama' | 'other'

/** Who answers on a port of this machine; undefined where nobody does. Nothing is sent there that anybody might not know. */
export async function findPortHolder(
  port: number,
  signal?: AbortSignal,
): Promise<PortHolder | undefined> {
  const address = `http://127.0.0.1:${port}`
  try {
    // Our daemon says `Ollama is running` too, for the programs that look for it: its health is asked first.
    const health = await get(`${address}/healthz`, signal)
    if (/^\s*\{\s*"status"\s*:\s*"ok"/.test(health)) {
      return health.includes('"pid"') ? 'daemon' : 'registry'
    }
    return (await get(`${address}/`, signal)).includes('Ollama is running') ? 'Ollama' : 'other'
  } catch (error) {
    const cause = error instanceof Error ? error.cause : undefined
    // Whatever else went wrong, somebody was there.
    return isErrno(cause, 'ECONNREFUSED') ? undefined : 'other'
  }
}

/** For a sentence, where it is not one's own. */
export const holderName: Record<PortHolder, string> = {
  daemon: 'a shoal daemon of another user or another SHOAL_HOME',
  registry: 'a shoal registry',
  Ollama: 'Ollama',
  other: 'another program',
}

/** As a browser asks: Ollama answers the same to everybody, and our own daemon with a page. */
async function get(url: string, signal?: AbortSignal): Promise<string> {
  const timeout = AbortSignal.timeout(timeoutMs)
  const response = await fetch(url, {
    headers: { accept: 'text/html' },
    signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
  })
  return (await response.text()).slice(0, 1_000)
}
