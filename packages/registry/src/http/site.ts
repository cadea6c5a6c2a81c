import { isLoopback } from '../config.ts'

/** Where the registry is found: every URL in an answer begins here, never with what a caller's `Host` claims. */
export type Site = {
  /** As in `http://localhost:8000`, without a trailing slash. */
  baseUrl(): string
  isSecure(): boolean
  /** Whether a request with this `Host` header is meant for us. */
  isOurHost(host: string | undefined): boolean
  /** Told once the port is known. */
  listensOn(port: number): void
}

export function siteOf(config: { baseUrl: string | undefined; allowedHosts: string[] }): Site {
  let baseUrl = config.baseUrl ?? 'http://localhost'
  return {
    baseUrl: () => baseUrl,
    isSecure: () => baseUrl.startsWith('https:'),
    isOurHost(host) {
      const url = `http://${host}`
      if (!host || !URL.canParse(url)) return false
      const name = new URL(url).hostname
      return (
        isLoopback(name) ||
        name === new URL(baseUrl).hostname ||
        config.allowedHosts.some((allowed) => allowed === name || allowed === host.toLowerCase())
      )
    },
    listensOn(port) {
      if (config.baseUrl === undefined) baseUrl = `http://localhost:${port}`
    },
  }
}
