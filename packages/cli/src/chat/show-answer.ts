import type { Printer } from '../terminal/printer.ts'
import { toTerminalText } from '../terminal/terminal-text.ts'
import type { Show } from './ask-model.ts'

/**
 * Prints only the answer on stdout. If stderr is a terminal, the reasoning is printed there, dimmed. Control characters
 * are removed from both, because a model's output cannot be trusted.
 */
export function answerOnStdout(printer: Printer): Show {
  const { stderr, err } = printer
  const showsReasoning = stderr.isTTY === true && !printer.isQuiet && !printer.isForPrograms
  let hasReasoned = false
  let last = ''

  function endReasoning() {
    if (hasReasoned) stderr.write('\n\n')
    hasReasoned = false
  }

  return {
    reasoning(text) {
      if (!showsReasoning) return
      // Without colors, a label distinguishes the reasoning from the answer.
      if (!hasReasoned && !err.isEnabled) stderr.write('Thinking: ')
      hasReasoned = true
      stderr.write(err.dim(toTerminalText(text)))
    },
    content(text) {
      endReasoning()
      const plain = toTerminalText(text)
      printer.part(plain)
      last = plain.at(-1) ?? last
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
