import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { untilAborted } from '@shoal/core/async'
import type { FromChild, ToChild } from './messages.ts'
import { modelLost, promptError, type Runtime, type RuntimeOptions } from './runtime.ts'

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
    if (child.connected) child.send(message) // false from this means only that the pipe is full
    return child.connected
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
  ended.then((reason) => loaded.reject(modelLost(reason)))
  send({ call: 'load', options })
  const loading = signal ? untilAborted(signal, loaded.promise) : loaded.promise
  const { facts } = await loading.catch(async (error) => {
    await close()
    throw error
  })

  let lastId = 0
  const nextId = () => {
    lastId += 1
    return lastId
  }
  return {
    facts,
    pid: child.pid ?? 0,
    ended,
    close,
    async *generate(generation, signal) {
      const messages = ask({ call: 'generate', id: nextId(), generation }, { calls, send }, signal)
      for await (const message of messages) {
        if (message.event === 'piece') yield message.piece
        if (message.event === 'finish') return message.finish
      }
      throw unanswered()
    },
    async embed(texts, signal) {
      const messages = ask({ call: 'embed', id: nextId(), texts }, { calls, send }, signal)
      for await (const message of messages) {
        if (message.event === 'embedded') return message.embeddings
      }
      throw unanswered()
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
    // What is made for a token lives as long as it: more room for the young costs memory and saves nothing.
    execArgv: ['--max-semi-space-size=2'],
  })
}

const unanswered = () => modelLost('the process of the model did not answer')

type Question = Extract<ToChild, { call: 'generate' | 'embed' }>

type Line = {
  calls: Map<number, (message: FromChild) => void>
  /** False where nobody listens any more. */
  send: (message: ToChild) => boolean
}

/** Sends a question and yields what comes back for it. Who stops listening, or fires `signal`, ends it over there. */
async function* ask(
  question: Question,
  { calls, send }: Line,
  signal: AbortSignal,
): AsyncGenerator<FromChild, void> {
  signal.throwIfAborted()
  const { id } = question
  const arrived: FromChild[] = []
  let wake: (() => void) | undefined
  const onAbort = () => wake?.()
  calls.set(id, (message) => {
    arrived.push(message)
    wake?.()
  })
  signal.addEventListener('abort', onAbort)
  let isOver = false
  try {
    if (!send(question)) throw modelLost('the process of the model has ended')
    for (;;) {
      signal.throwIfAborted()
      const message = arrived.shift()
      if (!message) {
        await new Promise<void>((resolve) => {
          wake = resolve
        })
        continue
      }
      isOver = message.event !== 'piece'
      if (message.event === 'refused') {
        throw promptError(message.code, message.message, { param: message.param })
      }
      if (message.event === 'failed') throw modelLost(message.message)
      yield message
      if (isOver) return
    }
  } finally {
    signal.removeEventListener('abort', onAbort)
    calls.delete(id)
    if (!isOver) send({ call: 'abort', id })
  }
}
