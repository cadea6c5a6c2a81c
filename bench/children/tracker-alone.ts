/** Runs the tracker from the package `bittorrent-tracker` in its own process. */
import type { AddressInfo } from 'node:net'
import Server from 'bittorrent-tracker/server'
import { answer, readInput, waitForStop } from './child.ts'

await readInput()
const tracker = new Server({ udp: false, ws: false, stats: false })
const port = await new Promise<number>((resolve, reject) => {
  tracker.on('error', reject)
  tracker.listen(0, '127.0.0.1', () => resolve((tracker.http.address() as AddressInfo).port))
})
await answer({ url: `http://localhost:${port}` })
await waitForStop()
process.exit()
