/** The commands that can be typed in a chat. They begin with a slash. */
import { distance } from 'fastest-levenshtein'
import { misuse } from '../terminal/failure.ts'
import { plural } from '../terminal/units.ts'
import { type ChatSettings, settingNames } from './conversation.ts'
import { readyModel } from './ready-model.ts'
import { loadChat, saveChat } from './saved-chats.ts'
import type { ChatSession } from './session.ts'

type Command = {
  usage: string
  meaning: string
  run(session: ChatSession, argument: string, signal: AbortSignal): unknown
}

const commands: Record<string, Command> = {
  help: {
    usage: '/help',
    meaning: 'show this list',
    run: ({ context: { printer } }) => {
      for (const { usage, meaning } of Object.values(commands)) {
        printer.note(`  ${usage.padEnd(22)}${meaning}`)
      }
      printer.note('  To send several lines, enclose them in """. Ctrl-C stops an answer.')
    },
  },
  system: {
    usage: '/system [text]',
    meaning: 'show or set the system prompt; “-” removes it',
    run: ({ context: { printer }, conversation }, text) => {
      if (text === '') {
        const shown = conversation.system ?? 'There is no system prompt.'
        for (const line of shown.split('\n')) printer.note(`  ${line}`)
        return
      }
      conversation.system = text === '-' ? undefined : text
      printer.note(text === '-' ? '  System prompt removed.' : '  System prompt set.')
    },
  },
  clear: {
    usage: '/clear',
    meaning: 'clear the conversation',
    run: ({ context: { printer }, conversation }) => {
      conversation.turns.length = 0
      printer.note('  Conversation cleared.')
    },
  },
  model: { usage: '/model [name]', meaning: 'continue with another model', run: changeModel },
  set: {
    usage: '/set [name] [value]',
    meaning: 'show all settings, or change one; without a value, reset it',
    run: set,
  },
  stats: { usage: '/stats', meaning: 'show statistics for the last answer', run: reportStats },
  save: {
    usage: '/save <name>',
    meaning: 'save this conversation',
    run: async (session, name) => {
      await saveChat(session, name)
      session.context.printer.note(`  Saved. To resume it: /load ${name}`)
    },
  },
  load: {
    usage: '/load [name]',
    meaning: 'resume a saved conversation',
    run: async (session, name) => {
      session.conversation = await loadChat(session, name)
      const { length } = session.conversation.turns
      session.context.printer.note(`  Loaded ${plural(length, 'message')}.`)
    },
  },
  bye: { usage: '/bye', meaning: 'end the chat', run: () => 'leave' },
}

/** Runs a chat command. Returns `leave` if the chat should end. */
export async function runChatCommand(session: ChatSession, line: string, signal: AbortSignal) {
  const [, name = '', argument = ''] = /^\/(\S*)\s*(.*)$/s.exec(line) ?? []
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined
  if (command) return await command.run(session, argument.trim(), signal)
  const near = Object.keys(commands).find((one) => distance(one, name) <= 2)
  throw misuse(`Unknown command /${name}.`, near ? `Did you mean /${near}?` : 'See /help.')
}

async function changeModel(session: ChatSession, reference: string, signal: AbortSignal) {
  const { context, client, model } = session
  const { printer } = context
  if (reference === '') return printer.note(`  ${model.id}`)
  session.model = await readyModel({ ...context, takeStopSignal: () => signal }, client, reference)
  const { id, quantization, loadSeconds } = session.model
  const label = [id, quantization].filter(Boolean).join(' ')
  printer.note(`  ${label} ready in ${loadSeconds.toFixed(1)} s.`)
}

function set({ context: { printer }, conversation }: ChatSession, argument: string) {
  const { settings } = conversation
  const [name = '', value] = argument.split(/\s+/)
  if (name === '') {
    for (const [known, { key }] of Object.entries(settingNames)) {
      printer.note(`  ${known.padEnd(14)}${settings[key] ?? 'default'}`)
    }
    return
  }
  if (!Object.hasOwn(settingNames, name)) {
    const names = Object.keys(settingNames).join(', ')
    throw misuse(`Unknown setting “${name}”.`, `Valid settings: ${names}.`)
  }
  const { key, accept } = settingNames[name as keyof typeof settingNames]
  const { [key]: _, ...others }: ChatSettings = settings
  conversation.settings = value === undefined ? others : { ...others, [key]: accept(value) }
  printer.note(`  Set ${name} to ${value ?? 'its default'}.`)
}

function reportStats({ context: { printer }, lastAnswer, model }: ChatSession) {
  if (!lastAnswer) return printer.note('  There is no answer yet.')
  const { usage, seconds, firstTokenSeconds = seconds } = lastAnswer
  const tokens = usage?.completion_tokens ?? 0
  const pace = (tokens - 1) / Math.max(0.001, seconds - firstTokenSeconds)
  const then = tokens > 1 ? `, then ${pace.toFixed(1)} per second` : ''
  printer.note(
    `  ${plural(tokens, 'token')} in ${seconds.toFixed(1)} s, the first after ${firstTokenSeconds.toFixed(2)} s${then}.`,
  )
  if (usage) {
    printer.note(`  ${usage.total_tokens} of ${model.contextLength} tokens of context used.`)
  }
}
