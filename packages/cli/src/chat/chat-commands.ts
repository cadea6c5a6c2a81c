/** What a line that begins with a slash does in a chat. */
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
    meaning: 'this list',
    run: ({ context: { printer } }) => {
      for (const { usage, meaning } of Object.values(commands)) {
        printer.note(`  ${usage.padEnd(22)}${meaning}`)
      }
      printer.note('  """ begins and ends a message of several lines. Ctrl-C stops an answer.')
    },
  },
  system: {
    usage: '/system [text]',
    meaning: 'what the model is told first; - takes it away',
    run: ({ context: { printer }, conversation }, text) => {
      if (text === '') return printer.note(`  ${conversation.system ?? 'Nothing is told first.'}`)
      conversation.system = text === '-' ? undefined : text
      printer.note(text === '-' ? '  Nothing is told first.' : '  Told from now on.')
    },
  },
  clear: {
    usage: '/clear',
    meaning: 'forget what was said',
    run: ({ context: { printer }, conversation }) => {
      conversation.turns.length = 0
      printer.note('  Forgotten.')
    },
  },
  model: { usage: '/model [name]', meaning: 'go on with another model', run: changeModel },
  set: { usage: '/set [name] [value]', meaning: 'how to answer; no value: as usual', run: set },
  stats: { usage: '/stats', meaning: 'what the last answer took', run: reportStats },
  save: {
    usage: '/save <name>',
    meaning: 'keep this conversation',
    run: async (session, name) => {
      await saveChat(session, name)
      session.context.printer.note(`  Saved. To go on with it: /load ${name}`)
    },
  },
  load: {
    usage: '/load [name]',
    meaning: 'go on with one that was kept',
    run: async (session, name) => {
      session.conversation = await loadChat(session, name)
      const { length } = session.conversation.turns
      session.context.printer.note(`  Loaded, with ${plural(length, 'message')}.`)
    },
  },
  bye: { usage: '/bye', meaning: 'leave', run: () => 'leave' },
}

/** Gives `leave` where the chat is to end. */
export async function runChatCommand(session: ChatSession, line: string, signal: AbortSignal) {
  const [, name = '', argument = ''] = /^\/(\S*)\s*(.*)$/s.exec(line) ?? []
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined
  if (command) return await command.run(session, argument.trim(), signal)
  const near = Object.keys(commands).find((one) => distance(one, name) <= 2)
  throw misuse(`There is no /${name}.`, near ? `Did you mean /${near}?` : 'See /help.')
}

async function changeModel(session: ChatSession, reference: string, signal: AbortSignal) {
  const { context, client, model } = session
  const { printer } = context
  if (reference === '') return printer.note(`  ${model.id}`)
  session.model = await readyModel({ ...context, takeStopSignal: () => signal }, client, reference)
  const { id, quantization, loadSeconds } = session.model
  printer.note(`  ${id} ${quantization} ready in ${loadSeconds.toFixed(1)} s.`)
}

function set({ context: { printer }, conversation }: ChatSession, argument: string) {
  const { settings } = conversation
  const [name = '', value] = argument.split(/\s+/)
  if (name === '') {
    for (const [known, { key }] of Object.entries(settingNames)) {
      printer.note(`  ${known.padEnd(14)}${settings[key] ?? 'as usual'}`)
    }
    return
  }
  if (!Object.hasOwn(settingNames, name)) {
    const names = Object.keys(settingNames).join(', ')
    throw misuse(`“${name}” cannot be set.`, `There are ${names}.`)
  }
  const { key, accept } = settingNames[name as keyof typeof settingNames]
  const { [key]: _, ...others }: ChatSettings = settings
  conversation.settings = value === undefined ? others : { ...others, [key]: accept(value) }
  printer.note(`  ${name} is ${value ?? 'as usual'} from now on.`)
}

function reportStats({ context: { printer }, lastAnswer, model }: ChatSession) {
  if (!lastAnswer) return printer.note('  Nothing was answered yet.')
  const { usage, seconds, firstTokenSeconds = seconds } = lastAnswer
  const tokens = usage?.completion_tokens ?? 0
  const pace = tokens / Math.max(0.001, seconds - firstTokenSeconds)
  printer.note(
    `  ${plural(tokens, 'token')} in ${seconds.toFixed(1)} s, the first after ${firstTokenSeconds.toFixed(2)} s, then ${pace.toFixed(1)} a second.`,
  )
  if (usage) {
    printer.note(`  ${usage.total_tokens} of ${model.contextLength} tokens of context are used.`)
  }
}
