/** The conversations that are rendered with each template. They resemble the requests of agents and chat clients. */
import type { ChatMessage, Tool } from '../packages/daemon/src/runtime/runtime.ts'

export type Conversation = {
  name: string
  messages: ChatMessage[]
  tools: Tool[]
  /** Undefined for the default of each program. */
  isThinking?: boolean
}

const weather: Tool = {
  type: 'function',
  function: {
    name: 'get_weather',
    description: 'Returns the weather in a city.',
    parameters: {
      type: 'object',
      properties: {
        city: { type: 'string', description: 'Name of the city' },
        days: { type: 'integer', minimum: 1, maximum: 7 },
        unit: { type: 'string', enum: ['celsius', 'fahrenheit'] },
      },
      required: ['city'],
    },
  },
}

const notes: Tool = {
  type: 'function',
  function: {
    name: 'write_note',
    description: 'Saves a note.',
    parameters: {
      type: 'object',
      properties: { text: { type: 'string' }, tags: { type: 'array', items: { type: 'string' } } },
      required: ['text'],
    },
  },
}

const call = (id: string, name: string, args: object) => ({
  id,
  type: 'function' as const,
  function: { name, arguments: JSON.stringify(args) },
})

const system: ChatMessage = { role: 'system', content: 'You are a helpful harbor master.' }
const hello: ChatMessage = { role: 'user', content: 'Hello, who are you?' }
const question: ChatMessage = { role: 'user', content: 'What is the weather in "Kiel" & Lübeck?' }
const oneCall: ChatMessage = {
  role: 'assistant',
  content: '',
  tool_calls: [call('call_0001', 'get_weather', { city: 'Kiel', days: 2 })],
}
const oneResult: ChatMessage = {
  role: 'tool',
  name: 'get_weather',
  tool_call_id: 'call_0001',
  content: '{"wind": "4 Bft", "sun": true}',
}

export const conversations: Conversation[] = [
  { name: 'one question', messages: [hello], tools: [], isThinking: true },
  { name: 'system message', messages: [system, hello], tools: [], isThinking: true },
  {
    name: 'several turns',
    messages: [
      system,
      hello,
      { role: 'assistant', content: 'I keep the harbor.' },
      { role: 'user', content: '  And\nwhat else?  ' },
    ],
    tools: [],
    isThinking: true,
  },
  { name: 'default thinking', messages: [system, hello], tools: [] },
  { name: 'thinking off', messages: [system, hello], tools: [], isThinking: false },
  {
    name: 'reasoning in the history',
    messages: [
      hello,
      { role: 'assistant', content: 'I keep the harbor.', reasoning_content: 'They greet me.' },
      { role: 'user', content: 'Since when?' },
    ],
    tools: [],
    isThinking: true,
  },
  { name: 'tools', messages: [system, question], tools: [weather, notes], isThinking: true },
  {
    name: 'a call and its result',
    messages: [system, question, oneCall, oneResult],
    tools: [weather, notes],
    isThinking: true,
  },
  {
    name: 'parallel calls, and the next turn',
    messages: [
      question,
      {
        role: 'assistant',
        content: 'I will look both up.',
        tool_calls: [
          call('call_0001', 'get_weather', { city: 'Kiel', unit: 'celsius' }),
          call('call_0002', 'write_note', { text: 'a "quoted" line\nand <b>', tags: ['x', 'y'] }),
        ],
      },
      oneResult,
      { role: 'tool', name: 'write_note', tool_call_id: 'call_0002', content: 'saved' },
      { role: 'assistant', content: 'Windy.' },
      { role: 'user', content: 'Thanks!' },
    ],
    tools: [weather, notes],
    isThinking: true,
  },
]
