/** `shoal run <model>` at a terminal: a chat until Ctrl-D. Errors are shown and do not end the chat. */
import { DaemonError } from '@shoal/protocol/inference-client'
import { toFailure } from '../failures/to-failure.ts'
import { Failure } from '../terminal/failure.ts'
import { openLineReader } from '../terminal/line-reader.ts'
import { toSentence } from '../terminal/terminal-text.ts'
import { askModel } from './ask-model.ts'
import { runChatCommand } from './chat-commands.ts'
import { createChatRequest } from './conversation.ts'
import { readMessage } from './read-message.ts'
import type { ChatSession } from './session.ts'
import { answerOnStdout } from './show-answer.ts'

export async function chatLoop(session: ChatSession): Promise<void> {
  const { context, model } = session
  const { printer, environment } = context
  const stopSignal = context.takeStopSignal()
  let running: AbortController | undefined
  const reader = openLineReader(environment, () => running?.abort())
  const onStop = () => reader.close()
  stopSignal.addEventListener('abort', onStop, { once: true })
  printer.note(greetingFor(model))
  let isLeaving = false
  let interrupts = 0
  try {
    while (!isLeaving && !stopSignal.aborted) {
      const typed = await readMessage(reader)
      interrupts = typed.type === 'interrupt' && !typed.hadText ? interrupts + 1 : 0
      if (typed.type === 'end') {
        printer.aside('\n')
        break
      }
      if (interrupts > 1) {
        context.endWith('stopped')
        break
      }
      if (interrupts === 1) printer.note('  Press Ctrl-C again or Ctrl-D to leave.')
      if (typed.type === 'interrupt' || typed.text.trim() === '') continue
      running = new AbortController()
      const signal = AbortSignal.any([running.signal, stopSignal])
      isLeaving = await respond(session, typed.text, signal)
      running = undefined
    }
  } finally {
    stopSignal.removeEventListener('abort', onStop)
    reader.close()
  }
  stopSignal.throwIfAborted()
}

const greetingFor = ({ quantization, loadSeconds }: ChatSession['model']) =>
  `  ${quantization || 'Model'} ready in ${loadSeconds.toFixed(1)} s. Type /help for commands, or press Ctrl-D to leave.`

/** Runs a chat command or answers a message. Resolves to true if the chat should end. */
async function respond(session: ChatSession, text: string, signal: AbortSignal): Promise<boolean> {
  const { printer } = session.context
  try {
    if (text.startsWith('/')) return (await runChatCommand(session, text, signal)) === 'leave'
    await answer(session, text, signal)
  } catch (error) {
    printer.fail(signal.aborted ? new Failure('stopped', 'Stopped.') : failureInChat(error))
  }
  return false
}

async function answer(session: ChatSession, text: string, signal: AbortSignal) {
  const { client, model, conversation } = session
  const { printer } = session.context
  const { turns } = conversation
  const before = turns.length
  turns.push({ role: 'user', content: text })
  try {
    const request = createChatRequest(model.id, conversation)
    const reply = await askModel(client, request, { signal, show: answerOnStdout(printer) })
    session.lastAnswer = reply
    if (reply.content !== '') turns.push({ role: 'assistant', content: reply.content })
    if (reply.finishReason === 'stopped') printer.note('  Stopped.')
    if (reply.finishReason === 'length')
      printer.note('  The answer was cut off at the token limit.')
  } finally {
    // An unanswered question is removed, because it would otherwise be sent again with each later question.
    if (turns.at(-1)?.role === 'user') turns.length = before
  }
}

function failureInChat(error: unknown): Failure {
  if (error instanceof DaemonError && error.details.reason === 'context_length_exceeded') {
    const hint = 'To start over: /clear'
    return new Failure('failed', toSentence(error.message), { hint, cause: error })
  }
  return toFailure(error, undefined)
}
