/**
 * Load on one server: each connection sends its next request when the previous response is complete. The program only
 * parses the head of each response and counts the bytes of the body, so that it measures the server and not itself.
 */
import { connect, type Socket } from 'node:net'
import { percentile } from '../harness/numbers.ts'
import { answer, readInput } from './child.ts'

export type LoadInput = {
  url: string
  paths: string[]
  connections: number
  seconds: number
  /** Additional request headers. */
  headers?: Record<string, string>
  /** The status that every response must have. */
  status: number
}

export type Load = {
  requests: number
  requestsPerSecond: number
  p50Ms: number
  p95Ms: number
  maxMs: number
}

const { url, paths, connections, seconds, status, headers = {} } = await readInput<LoadInput>()
const { port } = new URL(url)
const headText = Object.entries({ Host: `localhost:${port}`, Accept: '*/*', ...headers })
  .map(([name, value]) => `${name}: ${value}\r\n`)
  .join('')
const requests = paths.map((path) => Buffer.from(`GET ${path} HTTP/1.1\r\n${headText}\r\n`))
const endOfHead = Buffer.from('\r\n\r\n')
const latenciesMs: number[] = []
let turn = 0

const startedAt = performance.now()
const endsAt = startedAt + seconds * 1000
stayAwake()
await Promise.all(Array.from({ length: connections }, askOn))
const elapsedSeconds = (performance.now() - startedAt) / 1000
const result: Load = {
  requests: latenciesMs.length,
  requestsPerSecond: latenciesMs.length / elapsedSeconds,
  p50Ms: percentile(latenciesMs, 0.5),
  p95Ms: percentile(latenciesMs, 0.95),
  maxMs: percentile(latenciesMs, 1),
}
await answer(result)
process.disconnect()

/**
 * Keeps this process busy instead of letting it sleep. Otherwise, a server that is slower than this process would have
 * to wake the process up for each response, which takes 10 µs on a virtual machine.
 */
function stayAwake() {
  if (performance.now() < endsAt) setImmediate(stayAwake)
}

function askOn(): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: '127.0.0.1', port: Number(port), noDelay: true })
    let askedAt = 0
    /** The remaining bytes of the response body; 0 while the head is incomplete. */
    let left = 0
    let head: Buffer = Buffer.alloc(0)

    const ask = () => {
      askedAt = performance.now()
      socket.write(requests[turn++ % requests.length] ?? '')
    }
    const finish = () => {
      const now = performance.now()
      latenciesMs.push(now - askedAt)
      if (now < endsAt) return ask()
      socket.destroy()
      resolve()
    }
    socket.on('connect', ask)
    socket.on('error', reject)
    socket.on('end', () => reject(new Error('the server closed a connection')))
    socket.on('data', (bytes) => {
      if (left > 0) {
        left -= bytes.length
        if (left <= 0) finish()
        return
      }
      head = head.length === 0 ? bytes : Buffer.concat([head, bytes])
      const end = head.indexOf(endOfHead)
      if (end === -1) return
      left =
        lengthIn(head.toString('latin1', 0, end), socket) - (head.length - end - endOfHead.length)
      head = Buffer.alloc(0)
      if (left <= 0) finish()
    })
  })
}

function lengthIn(head: string, socket: Socket): number {
  if (!head.startsWith(`HTTP/1.1 ${status} `)) {
    socket.destroy(new Error(`expected status ${status}, got ${head.split('\r\n', 1)[0]}`))
  }
  const length = /\r\ncontent-length: (\d+)/i.exec(head)?.[1]
  if (length === undefined) socket.destroy(new Error('the response has no Content-Length'))
  return Number(length)
}
