/** Properties of the registry's endpoints that the transport needs. */

type Call = { method: string; url: string }

const getPath = (url: string) => new URL(url).pathname

/** The calls `startUpload` and `completeUpload`, which the registry handles idempotently. */
const repeatablePosts = /\/v1\/models\/[^/]+\/files(\/[^/]+\/complete)?$/

/** Whether a call is safe to repeat, so that it can be sent again if its response is lost. */
export function isRepeatable({ method, url }: Call): boolean {
  return method === 'GET' || (method === 'POST' && repeatablePosts.test(getPath(url)))
}

/** For some endpoints, a member that is present in every response, or in every item of a response that is a list. */
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
 * The member that distinguishes a registry's response to `call` from other JSON, and whether the response is a list in
 * which each item has the member. Undefined if no such member is known.
 */
export function findMember(call: Call): { member: string; isList: boolean } | undefined {
  const path = getPath(call.url)
  const found = members.find(([method, pattern]) => method === call.method && pattern.test(path))
  return found && { member: found[2], isList: found[3] === 'list' }
}
