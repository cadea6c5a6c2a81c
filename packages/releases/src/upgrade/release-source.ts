import { describePage } from '@shoal/core/errors'
import { UpgradeError } from './upgrade-error.ts'

/** A registry that offers releases. */
export type ReleaseSource = {
  /** The registry's URL, without a slash at the end. */
  address: string
  /** The registry's name in messages. */
  label: string
  /** Sends a request, and returns the response with its complete body. Header names are lowercase. */
  transport(request: {
    method: 'GET'
    url: string
    headers: Record<string, string>
  }): Promise<{ status: number; headers: { get(name: string): string | null }; body: Uint8Array }>
}

/**
 * Gets a file or, with `range`, a part of it.
 * @throws `UpgradeError` if the registry does not return the file
 */
export async function getFile({ transport, label }: ReleaseSource, url: string, range?: string) {
  const headers = { accept: 'application/octet-stream', ...(range !== undefined && { range }) }
  const answer = await transport({ method: 'GET', url, headers })
  if (answer.status === 404) {
    throw new UpgradeError('none_offered', `${label} has no release of shoal for this machine.`)
  }
  if (answer.status >= 400) {
    throw new UpgradeError(
      'bad_response',
      `${label} returned ${describePage(answer.status, Buffer.from(answer.body).toString())} for ${url}.`,
    )
  }
  return answer
}
