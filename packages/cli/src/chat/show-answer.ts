import type { Printer } from '../terminal/printer.ts'
import type { Show } from './ask-model.ts'

/**
 * Prints only the answer on stdout. If stderr is a terminal, the reasoning is printed there, dimmed.
 */
export function answerOnStdout(printer: Printer): Show {
  const { stderr, err } = printer
  const showsReasoning = stderr.isTTY === true && !printer.isQuiet && !printer.isForPrograms
  let hasReasoned = false
  let last = ''

  function endReasoning() {
    if (hasReasoned) printer.aside('\n\n')
    hasReasoned = false
  }

  return {
    reasoning(text) {
      if (!showsReasoning) return
      // Without colors, a label distinguishes the reasoning from the answer.
      if (!hasReasoned && !err.isEnabled) printer.aside('Thinking: ')
      hasReasoned = true
      printer.aside(err.dim(text))
    },
    content(text) {
      endReasoning()
      printer.part(text)
      last = text.at(-1) ?? last
    },
    end() {
      endReasoning()
      if (last !== '' && last !== '\n') printer.part('\n')
    },
  }
}

/** Shows nothing, for answers that are printed only when they are complete. */
export const nothingShown: Show = {
  content: () => undefined,
  reasoning: () => undefined,
  end: () => undefined,
}
