/** Returns the address of a registry in lowercase, without its scheme and trailing slashes: `localhost:8000`. */
export const hostOf = (registry: string): string =>
  registry
    .replace(/^https?:\/\//i, '')
    .replace(/\/+$/, '')
    .toLowerCase()

/**
 * Whether a reference with `host` can refer to a model in the registry at `address`. A host without a port matches any
 * port. If `address` is undefined because the model's registry is unknown, every host matches.
 */
export function isFromHost(address: string | undefined, host: string): boolean {
  if (address === undefined) return true
  const own = hostOf(address)
  const wanted = hostOf(host)
  return own === wanted || own.replace(/:\d+(?=\/|$)/, '') === wanted
}
