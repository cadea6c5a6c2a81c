import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { WebSocket } from 'ws'
import { twenty } from './raw-announce.ts'

type Message = Record<string, unknown>
export type Browser = Awaited<ReturnType<typeof openBrowser>>

export const bytes = (hex: string) => Buffer.from(hex, 'hex').toString('latin1')
export const offer = { type: 'offer', sdp: 'v=0 offer' }
export const answer = { type: 'answer', sdp: 'v=0 answer' }

const opened: WebSocket[] = []

/** Opens a WebSocket to a tracker as a browser does, for sending and receiving individual messages. */
export async function openBrowser(url: string, number: number) {
  const socket = new WebSocket(url)
  opened.push(socket)
  const messages: Message[] = []
  socket.on('message', (data) => messages.push(JSON.parse(String(data))))
  await once(socket, 'open')
  const peerId = twenty(number)

  const say = (message: unknown) => {
    const isRaw = typeof message === 'string' || Buffer.isBuffer(message)
    socket.send(isRaw ? message : JSON.stringify(message))
  }
  async function hear(): Promise<Message> {
    await until(() => messages.length > 0)
    return messages.shift() ?? {}
  }
  const announce = (infoHash: string, fields: Message = {}) =>
    say({
      action: 'announce',
      info_hash: bytes(infoHash),
      peer_id: bytes(peerId),
      left: 1,
      ...fields,
    })

  return {
    socket,
    /** The messages that have not been read yet. */
    messages,
    peerId,
    say,
    hear,
    announce,
    async ask(message: unknown): Promise<Message> {
      say(message)
      return hear()
    },
    async join(infoHash: string, fields?: Message): Promise<Message> {
      announce(infoHash, fields)
      return hear()
    },
    async closed(): Promise<number> {
      const [code] = await once(socket, 'close')
      return code
    },
  }
}

export function closeBrowsers() {
  for (const socket of opened.splice(0)) socket.terminate()
}

export async function until(isSo: () => boolean | Promise<boolean>) {
  while (!(await isSo())) await sleep(10)
}
