/** What the transport needs to know about the registry's endpoints. */

type Call = { method: string; url: string }

const getPath = (url: string) => new URL(url).pathname

/** Starting and completing an upload are idempotent in the registry. */
const repeatablePosts = /\/v1\/models\/[^/]+\/files(\/[^/]+\/complete)?$/

/** Whether a call is safe to repeat, so that it can be sent again if its response was lost. */
export function isRepeatable({ method, url }: Call): boolean {
  return method === 'GET' || (method === 'POST' && repeatablePosts.test(getPath(url)))
}

/** A member present in every response of an endpoint, or in every item of a list. */
const members: [method: string, path: RegExp, member: string, kind?: 'list'][] = [
  ['GET', /\/v1\/models$/, 'id', 'list'],
  ['POST', /\/v1\/models$/, 'name'],
  ['GET', /\/v1\/models\/[^/]+$/, 'name'],
  ['GET', /\/v1\/models\/[^/]+\/files$/, 'id', 'list'],
  ['POST', /\/v1\/models\/[^/]+\/files$/, 'upload'],
  ['GET', /\/files\/[^/]+\/upload$/, 'missing_chunks'],
  ['POST', /\/files\/[^/]+\/complete$/, 'status'],
  ['GET', /\/v1\/models\/[^/]+\/files\/[^/]+$/, 'status'],
  ['GET', /\/v1\/files\/[^/]+\/download\/[^/]+$/, 'chunk_hashes'],
  ['GET', /\/v1\/auth\/me$/, 'username'],
  ['POST', /\/v1\/auth\/(login|register)$/, 'access_token'],
]

/**
 * The member that distinguishes a registry's response from other JSON, and whether to look for it in each item of a list.
 * Undefined if none is known.
 */
export function findMember(call: Call): { member: string; isList: boolean } | undefined {
  const path = getPath(call.url)
  const found = members.find(([method, pattern]) => method === call.method && pattern.test(path))
  return found && { member: found[2], isList: found[3] === 'list' }
}
