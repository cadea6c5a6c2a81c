/** The host of a registry's address or of a reference, without the scheme: `localhost:8000`. */
export const hostOf = (registry: string): string =>
  registry
    .replace(/^https?:\/\//i, '')
    .replace(/\/+$/, '')
    .toLowerCase()

/**
 * Whether a model whose registry has this address may be the one that a reference with `host` names. A host without a
 * port means any port, and a model whose registry is not known may be of any registry.
 */
export function isFromHost(address: string | undefined, host: string): boolean {
  if (address === undefined) return true
  const own = hostOf(address)
  const wanted = hostOf(host)
  return own === wanted || own.replace(/:\d+(?=\/|$)/, '') === wanted
}
