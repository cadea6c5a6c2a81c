export type Magnet = {
  /** 40 hexadecimal digits. */
  infoHash: string
  displayName: string
  webSeeds: readonly string[]
  trackers: readonly string[]
  /** Where the `.torrent` file is. */
  exactSource: string
}

/** A magnet URI (BEP 9) with web seeds (`ws`, BEP 19), trackers and the torrent file's own address. */
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
  // The urn stays as it is: some clients look for the text `xt=urn:btih:`.
  return [
    `magnet:?xt=urn:btih:${infoHash}`,
    ...parameters.map(([key, value]) => `${key}=${encodeURIComponent(value)}`),
  ].join('&')
}
