/** What is used of webtorrent as a client, which has no types. */
declare module 'webtorrent' {
  import type { EventEmitter } from 'node:events'

  export default class WebTorrent extends EventEmitter {
    constructor(options: object)
    add(torrent: string | Uint8Array, options: { path: string }): EventEmitter
    destroy(done: (error?: Error) => void): void
  }
}
