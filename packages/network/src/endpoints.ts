/** What the transport has to know of the registry's endpoints. */

type Call = { method: string; url: string }

const pathOf = (url: string) => new URL(url).pathname

/** Start and complete of an upload: the registry takes the second for the first. */
const repeatablePosts = /\/v1\/models\/[^/]+\/files(\/[^/]+\/complete)?$/

/** Whether doing it twice does no harm, so that it may be sent again where its answer was lost. */
export function isRepeatable({ method, url }: Call): boolean {
  return method === 'GET' || (method === 'POST' && repeatablePosts.test(pathOf(url)))
}

/** Where commands begin, and what every answer has there. */
const members: [path: RegExp, member: string][] = [
  [/\/v1\/models(\/[^/]+\/files)?$/, 'length'],
  [/\/v1\/models\/[^/]+$/, 'name'],
  [/\/v1\/files\/[^/]+\/download\/[^/]+$/, 'chunk_hashes'],
  [/\/v1\/auth\/me$/, 'username'],
]

/** A member by which an answer of a registry can be told from other JSON; undefined where none is known. */
export function memberOf({ method, url }: Call): string | undefined {
  if (method !== 'GET') return undefined
  return members.find(([path]) => path.test(pathOf(url)))?.[1]
}
