import { isErrno } from '../terminal/errno.ts'

const patienceMilliseconds = 1_000

/** Who answers on a port of this machine: `shoal`, `Ollama`, or that it is somebody; undefined where nobody does. */
export async function findPortHolder(port: number): Promise<string | undefined> {
  const address = `http://127.0.0.1:${port}`
  try {
    // Our daemon says `Ollama is running` too, for the programs that look for it: its health is asked first.
    if (isHealthOfShoal(await get(`${address}/healthz`))) return 'shoal'
    return (await get(`${address}/`)).includes('Ollama is running') ? 'Ollama' : 'another program'
  } catch (error) {
    const cause = error instanceof Error ? error.cause : undefined
    // Whatever else went wrong, somebody was there.
    return isErrno(cause, 'ECONNREFUSED') ? undefined : 'another program'
  }
}

/** As a browser asks: Ollama answers the same to everybody, and our own daemon with a page. */
async function get(url: string): Promise<string> {
  const response = await fetch(url, {
    headers: { accept: 'text/html' },
    signal: AbortSignal.timeout(patienceMilliseconds),
  })
  return (await response.text()).slice(0, 1_000)
}

const isHealthOfShoal = (body: string) => /^\s*\{\s*"status"\s*:\s*"ok"/.test(body)
