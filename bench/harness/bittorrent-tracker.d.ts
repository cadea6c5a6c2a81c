/** What the bench uses of the package, which has no types. */
declare module 'bittorrent-tracker/server' {
  import type { EventEmitter } from 'node:events'
  import type { Server as HttpServer } from 'node:http'

  export default class Server extends EventEmitter {
    constructor(options: { udp: boolean; ws: boolean; stats: boolean })
    readonly http: HttpServer
    listen(port: number, host: string, done: () => void): void
  }
}
