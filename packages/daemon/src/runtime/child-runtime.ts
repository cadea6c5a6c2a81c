import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { FromChild, ToChild } from './messages.ts'
import {
  type Finish,
  type Generation,
  type Piece,
  PromptError,
  type Runtime,
  RuntimeGoneError,
  type RuntimeOptions,
} from './runtime.ts'

/** Runs a model in a process of its own, which may crash without taking anything else along. Rejects where it cannot be loaded. */
export async function startChildRuntime(
  options: RuntimeOptions,
  signal?: AbortSignal,
): Promise<Runtime> {
  const child = startProcess()
  const calls = new Map<number, (message: FromChild) => void>()
  const abandon = (reason: string) => {
    for (const [id, answer] of calls) answer({ event: 'failed', id, message: reason })
  }
  let isClosing = false
  const ended = once(child, 'exit').then(([code, killedBy]) => {
    const how = killedBy ? `was ended by ${killedBy}` : `ended with ${code}`
    const reason = `the process of the model ${how}`
    abandon(isClosing ? 'the model was unloaded' : reason)
    return isClosing ? undefined : reason
  })

  const send = (message: ToChild) => {
    if (child.connected) child.send(message)
  }
  const close = async () => {
    isClosing = true
    if (child.connected) child.disconnect()
    const overdue = setTimeout(() => child.kill('SIGKILL'), patienceMs)
    await ended
    clearTimeout(overdue)
  }

  const loaded = Promise.withResolvers<Extract<FromChild, { event: 'loaded' }>>()
  child.on('message', (message: FromChild) => {
    if (message.event === 'loaded') loaded.resolve(message)
    else if (message.event === 'not-loaded') loaded.reject(new Error(message.message))
    else calls.get(message.id)?.(message)
  })
  ended.then((reason) => loaded.reject(new RuntimeGoneError(reason)))
  const onAbort = () => loaded.reject(signal?.reason)
  signal?.addEventListener('abort', onAbort, { once: true })
  send({ call: 'load', options })
  const { facts } = await loaded.promise
    .catch(async (error) => {
      await close()
      throw error
    })
    .finally(() => signal?.removeEventListener('abort', onAbort))

  let lastId = 0
  return {
    facts,
    pid: child.pid ?? 0,
    ended,
    close,
    generate(generation, signal) {
      lastId += 1
      return generateIn({ id: lastId, generation, calls, send }, signal)
    },
  }
}

/** How long a process may take to free its memory. */
const patienceMs = 5000

function startProcess(): ChildProcess {
  const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js'
  return fork(fileURLToPath(new URL(`./model-process.${extension}`, import.meta.url)), {
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    // llama.cpp has threads of its own; those of libuv would only stand in their way.
    env: { ...process.env, UV_THREADPOOL_SIZE: '1', NODE_NO_WARNINGS: '1' },
    execArgv: [],
  })
}

type Call = {
  id: number
  generation: Generation
  calls: Map<number, (message: FromChild) => void>
  send: (message: ToChild) => void
}

async function* generateIn(
  { id, generation, calls, send }: Call,
  signal: AbortSignal,
): AsyncGenerator<Piece, Finish> {
  signal.throwIfAborted()
  const arrived: FromChild[] = []
  let wake: (() => void) | undefined
  const onAbort = () => wake?.()
  calls.set(id, (message) => {
    arrived.push(message)
    wake?.()
  })
  signal.addEventListener('abort', onAbort)
  let isOver = false
  send({ call: 'generate', id, generation })
  try {
    for (;;) {
      signal.throwIfAborted()
      const message = arrived.shift()
      if (!message) {
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      } else if (message.event === 'piece') yield message.piece
      else {
        isOver = true
        if (message.event === 'finish') return message.finish
        if (message.event === 'refused') throw new PromptError(message.code, message.message)
        if (message.event === 'failed') throw new RuntimeGoneError(message.message)
      }
    }
  } finally {
    signal.removeEventListener('abort', onAbort)
    calls.delete(id)
    if (!isOver) send({ call: 'abort', id })
  }
}
