/** The process of one model, started by `child-runtime.ts`: it does what messages say, and ends with its parent. */
import { openLlamaModel } from './llama-model.ts'
import type { FromChild, ToChild } from './messages.ts'
import { type Generation, PromptError } from './runtime.ts'

const running = new Map<number, AbortController>()
let model: Awaited<ReturnType<typeof openLlamaModel>> | undefined

process.on('message', (message: ToChild) => {
  if (message.call === 'load') return load(message.options)
  if (message.call === 'abort') return running.get(message.id)?.abort(new Error('aborted'))
  return generate(message.id, message.generation)
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

async function generate(id: number, generation: Generation) {
  const abort = new AbortController()
  running.set(id, abort)
  try {
    if (!model) throw new Error('no model is loaded')
    const pieces = model.generate(generation, abort.signal)
    let step = await pieces.next()
    while (!step.done) {
      tell({ event: 'piece', id, piece: step.value })
      step = await pieces.next()
    }
    tell({ event: 'finish', id, finish: step.value })
  } catch (error) {
    if (error instanceof PromptError) {
      tell({ event: 'refused', id, code: error.code, message: error.message })
    } else if (!abort.signal.aborted) tell({ event: 'failed', id, message: messageOf(error) })
  } finally {
    running.delete(id)
  }
}

function tell(message: FromChild) {
  if (process.connected) process.send?.(message)
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
