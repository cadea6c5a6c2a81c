import { formatPath, type PathParameters } from '../format-path.ts'

/** The parts of a call, except its method and path. */
export type Call = {
  query?: Record<string, unknown>
  body?: unknown
  /** The media type to accept. Default: JSON. */
  accept?: string
  signal?: AbortSignal | undefined
}

export type Target = { method: string; path: string }

export const to = <Url extends string>(
  route: { method: string; url: Url },
  ...parameters: PathParameters<Url>
): Target => ({ method: route.method, path: formatPath(route.url, ...parameters) })
