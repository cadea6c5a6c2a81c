import { type ChildProcess, fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { untilAborted } from '@shoal/core/async'
import { hasCode } from '@shoal/core/errors'
import { childPort, openRpc } from '@shoal/core/rpc'
import { leastTokens } from '../least-tokens.ts'
import {
  isPromptError,
  modelLost,
  type Prompt,
  processLost,
  promptTooLong,
  type Runtime,
  type RuntimeOptions,
} from '../runtime.ts'
import type { ModelMethods } from './model-process.ts'

/** Runs a model in a separate process, so that a crash affects nothing else. */
export async function startChildRuntime(
  options: RuntimeOptions,
  signal?: AbortSignal,
): Promise<Runtime> {
  const child = startProcess()
  const port = childPort(child, processLost)
  const rpc = openRpc<ModelMethods>(port)
  let isClosing = false
  const end = Promise.withResolvers<string | undefined>()
  port.onClose(({ message }) => end.resolve(isClosing ? undefined : message))

  const close = async () => {
    isClosing = true
    rpc.notify('end')
    rpc.close(modelLost('the model was unloaded'))
    const overdue = setTimeout(() => child.kill('SIGKILL'), closeTimeoutMs)
    await end.promise
    clearTimeout(overdue)
  }

  const loaded = rpc.call('load', options).catch((error) => {
    if (hasCode(error, 'model_lost', 'model_unusable')) throw error
    throw new Error(error.message, { cause: error })
  })
  const facts = await (signal ? untilAborted(signal, loaded) : loaded).catch(async (error) => {
    await close()
    throw error
  })

  /** Refuses a prompt that certainly does not fit before it is sent to the process. */
  function refuseTooLong(prompt: Prompt, contextLength: number) {
    const promptTokens = leastTokens(prompt, facts.longestTokenBytes)
    if (promptTokens < contextLength) return
    throw promptTooLong({ promptTokens, isMinimum: !('tokens' in prompt), contextLength })
  }

  return {
    facts,
    pid: child.pid ?? 0,
    ended: end.promise,
    close,
    async countTokens(prompt) {
      refuseTooLong(prompt, facts.contextLength)
      return await rpc.call('countTokens', prompt).catch(throwOurs)
    },
    async applyTemplate(prompt) {
      refuseTooLong(prompt, facts.contextLength)
      return await rpc.call('applyTemplate', prompt).catch(throwOurs)
    },
    tokenize: (text) => rpc.call('tokenize', text).catch(throwOurs),
    tokenBytes: (tokens) => rpc.call('tokenBytes', tokens).catch(throwOurs),
    freeCache: () => rpc.call('freeCache'),
    async *generate(generation, signal) {
      if (!generation.truncates) refuseTooLong(generation.prompt, facts.contextLength)
      try {
        return yield* rpc.stream('generate', generation, signal)
      } catch (error) {
        throw signal.aborted ? error : asOurs(error)
      }
    },
    async embed(texts, signal, options) {
      for (const text of options?.truncates ? [] : texts) {
        const prompt = typeof text === 'string' ? { text } : { tokens: text }
        refuseTooLong(prompt, facts.embeddingContextLength + 1)
      }
      try {
        return await untilAborted(signal, rpc.call('embed', { texts, ...options }, signal))
      } catch (error) {
        throw signal.aborted ? error : asOurs(error)
      }
    },
    async rank(pairs, signal, options) {
      try {
        return await untilAborted(signal, rpc.call('rank', { pairs, ...options }, signal))
      } catch (error) {
        throw signal.aborted ? error : asOurs(error)
      }
    },
  }
}

/**
 * Returns the error for the caller of a failed request. Unexpected errors become `model_lost`, because the next request
 * may succeed.
 */
const asOurs = (error: unknown) =>
  isPromptError(error) || hasCode(error, 'model_lost') ? error : modelLost((error as Error).message)

function throwOurs(error: unknown): never {
  throw asOurs(error)
}

/** The time limit for a process to exit before it is killed. */
const closeTimeoutMs = 5000

function startProcess(): ChildProcess {
  const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js'
  return fork(fileURLToPath(new URL(`./model-process.${extension}`, import.meta.url)), {
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    // More libuv threads would only compete with llama.cpp's own threads.
    env: { ...process.env, UV_THREADPOOL_SIZE: '1', NODE_NO_WARNINGS: '1' },
    // Objects that are allocated for a token become garbage as soon as the token has been processed. A larger young
    // generation would use more memory without benefit.
    execArgv: ['--max-semi-space-size=2'],
  })
}
