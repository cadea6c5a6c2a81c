import type { NetworkFailure } from '@shoal/protocol/client'
import type { Redirect } from './redirect.ts'
import { type Asked, failureOfAnswer } from './to-network-failure.ts'

type Head = {
  /** Returns the value of a header. `name` must be lowercase. */
  header(name: string): string | undefined
  redirect: Redirect | undefined
  /** Set if the response comes from a proxy or a captive portal instead of a registry or its storage. */
  failure: NetworkFailure | undefined
}

/** Interprets the status and headers of a response. `text`: the body, if it has already been read. */
export function readHead(
  asked: Asked,
  status: number,
  headers: Record<string, string | string[] | undefined>,
  text?: string,
): Head {
  const header = (name: string) => headers[name]?.toString()
  const location = status >= 300 && status < 400 && status !== 304 ? header('location') : undefined
  return {
    header,
    redirect: location === undefined ? undefined : { status, location },
    failure: failureOfAnswer(asked, status, header('content-type'), text),
  }
}
