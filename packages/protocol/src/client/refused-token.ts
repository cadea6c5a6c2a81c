import { problemIn } from './api-error.ts'
import type { ApiAnswer, Transport } from './transport.ts'

/** The statuses of responses that may be different for a caller who is signed in. */
const needsSignIn = [401, 403, 404]

/**
 * Returns a transport for a client with a token. Once the registry has refused the token, requests are sent without it.
 * The response of a request that needs a token is then the registry's refusal. `onRefused` is called when the first
 * request has succeeded without the token.
 */
export function continueWithoutToken(
  transport: Transport,
  onRefused: (() => void) | undefined,
): Transport {
  const tokens = new Map<string, { refusal: ApiAnswer; isReported: boolean }>()

  return async (request) => {
    const { authorization, ...headers } = request.headers
    if (authorization === undefined) return transport(request)
    let token = tokens.get(authorization)
    if (!token) {
      const answer = await transport(request)
      if (!isRefusal(answer)) return answer
      token = { refusal: answer, isReported: false }
      tokens.set(authorization, token)
    }
    const answer = await transport({ ...request, headers })
    if (needsSignIn.includes(answer.status)) return token.refusal
    if (!token.isReported) onRefused?.()
    token.isReported = true
    return answer
  }
}

/** Whether the response is the registry's own 401, not that of a proxy. */
const isRefusal = ({ status, body }: ApiAnswer): boolean =>
  status === 401 && problemIn(new TextDecoder().decode(body)) !== undefined
