/**
 * A model that follows a script instead of thinking. It recognizes its task by a mark in the conversation, and calls
 * whatever tools the agent offers.
 */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import {
  type Chat,
  type Generation,
  type Piece,
  promptTooLong,
  type StartRuntime,
  type Tool,
} from '../packages/daemon/src/runtime/runtime.ts'
import { scriptedRuntime } from '../packages/daemon/src/testing/scripted-runtime.ts'

export const scenarios = ['file', 'overflow', 'image', 'cut', 'two'] as const
export type Scenario = (typeof scenarios)[number]

/** The file that the agent must write, and the image that it must read. */
export const resultFile = 'result.txt'
export const imageFile = 'image.png'

/** The instruction for an agent. The mark stays in the conversation when the agent compacts it. */
export const makeTask = (scenario: Scenario, folder: string) =>
  `Write the word done to the file ${join(folder, resultFile)}. [[${scenario} ${folder}]]`

/** Creates a model whose tokens have four characters each. */
export function scriptedModel(contextLength: number) {
  /** For each agent whose context has been full, by its folder: whether it noticed that by itself or by an error. */
  const full = new Map<string, 'noticed' | 'error'>()
  /** The folders of the agents that have read the image. */
  const looked = new Set<string>()

  function answer({ prompt, form }: Generation): Piece[] {
    if (!('chat' in prompt)) throw new Error('agents send chats')
    const { chat } = prompt
    const marks = [...textOf(chat).matchAll(/\[\[(\w+) ([^\]"]+)\]\]/g)]
    const [mark = '', scenario = '', folder = ''] = marks.at(-1) ?? []
    if (form !== undefined) return say('{"title":"Write a file"}')
    if (isCompaction(chat) && !full.has(folder)) full.set(folder, 'noticed')
    // Without tools, it is a request for a title or a summary.
    if (isCompaction(chat) || chat.tools.length === 0 || mark === '') {
      return say(`<summary>The task: ${mark}</summary>`)
    }
    if (existsSync(join(folder, resultFile))) return say('The file is written.')
    if (scenario === 'overflow' && !full.has(folder)) return printMuch(chat)
    if (scenario === 'image' && !looked.has(folder)) {
      looked.add(folder)
      return callTool(chat.tools, readers, { path: join(folder, imageFile) })
    }
    const command = `printf done > '${join(folder, resultFile)}'`
    return callTool(chat.tools, shells, { command })
  }

  const startRuntime: StartRuntime = async (options) => {
    const runtime = await scriptedRuntime()({ ...options, contextLength })
    return {
      ...runtime,
      async *generate(generation, signal) {
        const text = JSON.stringify(generation.prompt)
        const promptTokens = Math.ceil(text.length / 4)
        if (promptTokens >= contextLength) {
          const [, folder = ''] = [...text.matchAll(/\[\[overflow ([^\]"]+)\]\]/g)].at(-1) ?? []
          full.set(folder, 'error')
          throw promptTooLong({ promptTokens, contextLength })
        }
        const pieces = answer(generation)
        const script = await scriptedRuntime({ pieces })({ ...options, contextLength })
        const finish = yield* script.generate(generation, signal)
        return { ...finish, promptTokens }
      },
    }
  }
  return { startRuntime, full }
}

const textOf = ({ messages }: Chat) => messages.map(({ content }) => content).join('\n')

/** Whether the agent asks for a summary of the conversation, in place of the next step. */
function isCompaction({ messages }: Chat): boolean {
  const last = messages.findLast(({ role }) => role !== 'system')
  return (
    last?.role === 'user' &&
    messages.some(({ role }) => role === 'tool') &&
    /summar|compact|state_snapshot/i.test(last.content)
  )
}

const say = (text: string): Piece[] => [{ text }]

const shells =
  /^(bash|shell|shell_command|exec_command|run_shell_command|execute_bash|run_commands)$/i
const readers = /^(read|read_file|view|view_image)$/i

/**
 * Prints 28,000 characters, about as many as agents keep of a command's output. Each call is different, because agents
 * stop a model that repeats itself.
 */
function printMuch({ messages, tools }: Chat): Piece[] {
  const first = messages.filter(({ role }) => role === 'tool').length + 1
  return callTool(tools, shells, { command: `seq ${first} ${first + 5800}` })
}

type Values = { path?: string; command?: string }

/** Calls the first tool with a suitable name. Its parameters are recognized by their names. */
function callTool(tools: Tool[], name: RegExp, { path, command }: Values): Piece[] {
  const tool = tools.find((one) => name.test(one.function.name))
  if (!tool) return say(`There is no tool like ${name}.`)
  const { properties = {}, required = [] } = (tool.function.parameters ?? {}) as {
    properties?: Record<string, { type?: string }>
    required?: string[]
  }
  const args = Object.entries(properties).flatMap(([key, { type }]): [string, unknown][] => {
    if (/^(file_?path|path|absolute_path)$/i.test(key)) return [[key, path]]
    if (/^(commands?|cmd)$/.test(key)) return [[key, type === 'array' ? [command] : command]]
    if (!required.includes(key)) return []
    return [[key, type === 'boolean' ? false : 'x']]
  })
  return [
    { toolCall: { name: tool.function.name, arguments: JSON.stringify(Object.fromEntries(args)) } },
  ]
}
