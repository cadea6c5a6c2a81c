export type Magnet = {
  /** 40 hexadecimal digits. */
  infoHash: string
  displayName: string
  webSeeds: readonly string[]
  trackers: readonly string[]
  /** The URL of the `.torrent` file. */
  exactSource: string
}

/** Returns a magnet URI (BEP 9) with web seeds (`ws`, BEP 19), trackers and the URL of the torrent file. */
export function magnetUri({
  infoHash,
  displayName,
  webSeeds,
  trackers,
  exactSource,
}: Magnet): string {
  const parameters: [key: string, value: string][] = [
    ['dn', displayName],
    ...trackers.map((url): [string, string] => ['tr', url]),
    ...webSeeds.map((url): [string, string] => ['ws', url]),
    ['xs', exactSource],
  ]
  // The URN is not percent-encoded, because some clients search for the text `xt=urn:btih:`.
  return [
    `magnet:?xt=urn:btih:${infoHash}`,
    ...parameters.map(([key, value]) => `${key}=${encodeURIComponent(value)}`),
  ].join('&')
}
