/** What the transport has to know of the registry's endpoints. */

type Call = { method: string; url: string }

const pathOf = (url: string) => new URL(url).pathname

/** Start and complete of an upload: the registry takes the second for the first. */
const repeatablePosts = /\/v1\/models\/[^/]+\/files(\/[^/]+\/complete)?$/

/** Whether doing it twice does no harm, so that it may be sent again where its answer was lost. */
export function isRepeatable({ method, url }: Call): boolean {
  return method === 'GET' || (method === 'POST' && repeatablePosts.test(pathOf(url)))
}

/** What every answer of an endpoint has. */
const members: [method: string, path: RegExp, member: string][] = [
  ['GET', /\/v1\/models$/, 'length'],
  ['POST', /\/v1\/models$/, 'name'],
  ['GET', /\/v1\/models\/[^/]+$/, 'name'],
  ['GET', /\/v1\/models\/[^/]+\/files$/, 'length'],
  ['POST', /\/v1\/models\/[^/]+\/files$/, 'upload'],
  ['GET', /\/files\/[^/]+\/upload$/, 'missing_chunks'],
  ['POST', /\/files\/[^/]+\/complete$/, 'status'],
  ['GET', /\/v1\/models\/[^/]+\/files\/[^/]+$/, 'status'],
  ['GET', /\/v1\/files\/[^/]+\/download\/[^/]+$/, 'chunk_hashes'],
  ['GET', /\/v1\/auth\/me$/, 'username'],
  ['POST', /\/v1\/auth\/(login|register)$/, 'access_token'],
]

/** A member by which an answer of a registry can be told from other JSON; undefined where none is known. */
export function memberOf(call: Call): string | undefined {
  const path = pathOf(call.url)
  return members.find(([method, pattern]) => method === call.method && pattern.test(path))?.[2]
}
