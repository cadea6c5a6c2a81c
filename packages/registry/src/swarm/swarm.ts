/** How many peers have all of a torrent. The tracker knows; without one nobody does. */
export type Seeders = { count(infoHash: string): number }

export const noSeeders: Seeders = { count: () => 0 }
