/** The process of one model, started by `child-runtime.ts`: it does what messages say, and ends with its parent. */
import { openLlamaModel } from './llama/llama-model.ts'
import type { FromChild, ToChild } from './messages.ts'
import { isPromptError } from './runtime.ts'

type LlamaRuntime = Awaited<ReturnType<typeof openLlamaModel>>

const running = new Map<number, AbortController>()
let model: LlamaRuntime | undefined

process.on('message', (message: ToChild) => {
  if (message.call === 'load') return load(message.options)
  if (message.call === 'abort') return running.get(message.id)?.abort(new Error('aborted'))
  return answer(message)
})
process.on('disconnect', () => process.exit(0))
// A terminal sends Ctrl-C to the whole group: the daemon decides when this process ends.
process.on('SIGINT', () => undefined)

async function load(options: Parameters<typeof openLlamaModel>[0]) {
  try {
    model = await openLlamaModel(options)
    tell({ event: 'loaded', facts: model.facts })
  } catch (error) {
    tell({ event: 'not-loaded', message: messageOf(error) })
  }
}

type Question = Extract<ToChild, { call: 'generate' | 'embed' }>

async function answer(question: Question) {
  const { id } = question
  const abort = new AbortController()
  running.set(id, abort)
  try {
    if (!model) throw new Error('no model is loaded')
    tell(await answerWith(model, question, abort.signal))
  } catch (error) {
    if (isPromptError(error)) {
      const { code, message, details } = error
      tell({ event: 'refused', id, code, message, param: details.param })
    } else if (!abort.signal.aborted) tell({ event: 'failed', id, message: messageOf(error) })
  } finally {
    running.delete(id)
  }
}

/** Tells the pieces as they come, and answers with what is told last. */
async function answerWith(loaded: LlamaRuntime, question: Question, signal: AbortSignal) {
  const { id } = question
  if (question.call === 'embed') {
    const embeddings = await loaded.embed(question.texts, signal)
    return { event: 'embedded', id, embeddings } as const
  }
  const pieces = loaded.generate(question.generation, signal)
  let step = await pieces.next()
  for (; !step.done; step = await pieces.next()) tell({ event: 'piece', id, piece: step.value })
  return { event: 'finish', id, finish: step.value } as const
}

function tell(message: FromChild) {
  if (process.connected) process.send?.(message)
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
