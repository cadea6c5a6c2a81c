import type { Finish, Piece, StartRuntime } from './runtime.ts'

/**
 * Reports an answer as cut off (`length`) if the arguments of one of its calls are not complete JSON. Otherwise,
 * clients could mistake the call for a complete one.
 */
export function reportCutCalls(startRuntime: StartRuntime): StartRuntime {
  return async (options, signal) => {
    const runtime = await startRuntime(options, signal)
    return { ...runtime, generate: (...args) => checkCalls(runtime.generate(...args)) }
  }
}

async function* checkCalls(steps: AsyncGenerator<Piece, Finish>): AsyncGenerator<Piece, Finish> {
  /** The arguments of the call that began last. */
  let args: string | undefined
  let isCut = false
  const endCall = () => {
    if (args !== undefined && !isJson(args)) isCut = true
  }
  try {
    for (;;) {
      const step = await steps.next()
      if (step.done) {
        endCall()
        return isCut ? { ...step.value, reason: 'length' } : step.value
      }
      const { toolCall, argumentsDelta } = step.value
      if (toolCall) {
        endCall()
        args = toolCall.arguments
      }
      if (argumentsDelta !== undefined) args = (args ?? '') + argumentsDelta
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
