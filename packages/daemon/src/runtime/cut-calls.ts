import type { Finish, Piece, StartRuntime } from './runtime.ts'

/**
 * Reports an answer as cut off (`length`) if the arguments of its last call are not complete JSON, no matter what cut
 * them, so that no client takes the call for complete.
 */
export function reportCutCalls(startRuntime: StartRuntime): StartRuntime {
  return async (options, signal) => {
    const runtime = await startRuntime(options, signal)
    return { ...runtime, generate: (...args) => checkLastCall(runtime.generate(...args)) }
  }
}

async function* checkLastCall(steps: AsyncGenerator<Piece, Finish>): AsyncGenerator<Piece, Finish> {
  let lastArguments: string | undefined
  try {
    for (;;) {
      const step = await steps.next()
      if (step.done) {
        const isCut = lastArguments !== undefined && !isJson(lastArguments)
        return isCut ? { ...step.value, reason: 'length' } : step.value
      }
      const { toolCall, argumentsDelta } = step.value
      if (toolCall) lastArguments = toolCall.arguments
      if (argumentsDelta !== undefined) lastArguments = (lastArguments ?? '') + argumentsDelta
      yield step.value
    }
  } finally {
    await steps.return(undefined as never) // ends the generation if the caller has stopped reading
  }
}

export function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch (error) {
    if (error instanceof SyntaxError) return false
    throw error
  }
}
