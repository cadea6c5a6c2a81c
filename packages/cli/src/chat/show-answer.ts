import type { Printer } from '../terminal/printer.ts'
import { toTerminalText } from '../terminal/terminal-text.ts'
import type { Show } from './ask-model.ts'

/**
 * The answer alone goes to stdout. What the model thinks is for people: dim, on a terminal, beside the answer. Neither may
 * hold what drives a terminal: a model says what somebody made it say.
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
      // Without colour a word has to say what this is.
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

/** For an answer that is told whole. */
export const nothingShown: Show = {
  content: () => undefined,
  reasoning: () => undefined,
  end: () => undefined,
}
