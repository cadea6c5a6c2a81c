import { isJson } from './cut-calls.ts'
import { type Finish, isEmpty, type Piece, type Runtime } from './runtime.ts'

type Options = {
  /** The tools whose calls are joined. Default: all tools. */
  names?: ReadonlySet<string>
  /** Whether a call that was cut off is kept. By default it is dropped, because clients would think it complete. */
  keepsCut?: boolean
}

/** Joins the parts of each tool call, for APIs that send only complete calls. */
export function joinCalls({ names, keepsCut = false }: Options = {}) {
  let begun: Piece['toolCall']

  function end(): Piece[] {
    const pieces = begun && (keepsCut || isJson(begun.arguments)) ? [{ toolCall: begun }] : []
    begun = undefined
    return pieces
  }

  return {
    /** Adds a part of an answer. Returns the parts that are now complete. */
    take(given: Piece): Piece[] {
      const { toolCall, argumentsDelta, ...piece } = given
      const isContinued = begun !== undefined && argumentsDelta !== undefined
      if (begun && isContinued) begun.arguments += argumentsDelta
      const ended = isContinued ? [] : end()
      const isJoined = isContinued || (toolCall && (names?.has(toolCall.name) ?? true))
      if (toolCall && isJoined) begun = { ...toolCall }
      const rest = isJoined ? piece : given
      return isEmpty(rest) ? ended : [...ended, rest]
    },
    /** Called at the end of the answer. Returns the last tool call, if it is complete. */
    finish: end,
  }
}

/** Wraps a runtime so that each call of one of these tools arrives in one part, even if it was cut off. */
export function withJoinedCalls(
  runtime: Pick<Runtime, 'generate'>,
  names: ReadonlySet<string>,
): Pick<Runtime, 'generate'> {
  if (names.size === 0) return runtime
  return {
    async *generate(...args): AsyncGenerator<Piece, Finish> {
      const steps = runtime.generate(...args)
      const joining = joinCalls({ names, keepsCut: true })
      try {
        for (;;) {
          const step = await steps.next()
          if (step.done) {
            yield* joining.finish()
            return step.value
          }
          yield* isEmpty(step.value) ? [step.value] : joining.take(step.value)
        }
      } finally {
        await steps.return(undefined as never) // ends the generation if the caller has stopped reading
      }
    },
  }
}
