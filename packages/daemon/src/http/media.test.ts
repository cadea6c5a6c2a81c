/** Tests what the model receives in place of images and documents. */
import { beforeAll, expect, test } from 'vitest'
import type { ChatMessage, StartRuntime } from '../runtime/runtime.ts'
import { postJson } from '../testing/post-json.ts'
import { scriptedRuntime } from '../testing/scripted-runtime.ts'
import { startTestDaemon } from '../testing/test-daemon.ts'
import { readImageSize } from './image-size.ts'

const png = Buffer.from('89504e470d0a1a0a0000000d4948445200000280000001e0', 'hex')
const data = png.toString('base64')
const url = `data:image/png;base64,${data}`
const note = '[image 640×480: this model cannot see it]'

test.each([
  ['PNG', png],
  ['GIF', Buffer.from('4749463839618002e001', 'hex')],
  ['JPEG', Buffer.from('ffd8ffe00004abcdffc0001108' + '01e0' + '0280', 'hex')],
  ['WebP', Buffer.from('RIFF....WEBPVP8 ....\0\0\0\x9d\x01\x2a\x80\x02\xe0\x01', 'latin1')],
  ['lossless WebP', Buffer.from('RIFF....WEBPVP8L....\x2f\x7f\xc2\x77\0', 'latin1')],
  ['extended WebP', Buffer.from('RIFF....WEBPVP8X........\x7f\x02\0\xdf\x01\0', 'latin1')],
])('the size of an image is read from the header of a %s file', (_, bytes) => {
  expect(readImageSize(bytes)).toEqual({ width: 640, height: 480 })
})

test('an image that is cut off or unknown has no size', () => {
  for (const bytes of [png.subarray(0, 18), Buffer.from('ffd8ffe0', 'hex'), Buffer.of()]) {
    expect(readImageSize(bytes)).toBeUndefined()
  }
})

const call = { id: 'x', type: 'function', function: { name: 'see', arguments: '{}' } }
const chatImage = { type: 'image_url', image_url: { url } }
const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data } }
const plain = { type: 'document', source: { type: 'text', data: 'a poem' } }
const pdf = { type: 'document', title: 'report.pdf', source: { type: 'base64', data: 'AAAA' } }
const use = { type: 'tool_use', id: 'x', name: 'see', input: {} }
const inputImage = { type: 'input_image', image_url: url }
const itemCall = { type: 'function_call', call_id: 'x', name: 'see', arguments: '{}' }

/** For each API: a history with an image, a tool's result with an image, and the notes that the model receives. */
const apis: [path: string, history: object, result: object, notes: string[]][] = [
  [
    '/v1/chat/completions',
    {
      messages: [
        { role: 'user', content: [chatImage, { type: 'file', file: { filename: 'report.pdf' } }] },
        { role: 'assistant', content: 'Ah.' },
        { role: 'user', content: 'Hi' },
      ],
    },
    {
      messages: [
        { role: 'user', content: 'Hi' },
        { role: 'assistant', tool_calls: [call] },
        { role: 'tool', tool_call_id: 'x', content: 'see below' },
        { role: 'user', content: [chatImage] },
      ],
    },
    [`${note}[document report.pdf: this model cannot read it]`, note],
  ],
  [
    '/v1/responses',
    {
      input: [
        { role: 'user', content: [inputImage] },
        { role: 'user', content: 'Hi' },
      ],
    },
    { input: [itemCall, { type: 'function_call_output', call_id: 'x', output: [inputImage] }] },
    [note, note],
  ],
  [
    '/v1/messages',
    {
      max_tokens: 9,
      messages: [
        { role: 'user', content: [image] },
        { role: 'assistant', content: 'Ah.' },
        { role: 'user', content: [plain] },
      ],
    },
    {
      max_tokens: 9,
      messages: [
        { role: 'assistant', content: [use] },
        {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: 'x', content: [image, pdf] },
            { type: 'text', text: 'a poem' },
          ],
        },
        { role: 'system', content: 'Be brief.' },
      ],
    },
    [note, 'a poem', `${note}[document report.pdf: this model cannot read it]`, 'a poem'],
  ],
  [
    '/api/chat',
    {
      messages: [
        { role: 'user', content: 'Look: ', images: [data] },
        { role: 'user', content: 'Hi' },
      ],
    },
    { messages: [{ role: 'tool', content: '', images: [data] }] },
    [`Look: ${note}`, note],
  ],
]

const model = 'shoal-tiny'
const asked: ChatMessage[] = []
let daemon: string
/** A daemon whose setting refuses images in histories too. */
let strict: string
beforeAll(async () => {
  const start: StartRuntime = async (options) => {
    const runtime = await scriptedRuntime()(options)
    return {
      ...runtime,
      generate(generation, signal) {
        if ('chat' in generation.prompt) asked.push(...generation.prompt.chat.messages)
        return runtime.generate(generation, signal)
      },
    }
  }
  const both = [
    await startTestDaemon({}, start),
    await startTestDaemon({ refusesMedia: true }, start),
  ]
  ;[daemon = '', strict = ''] = both.map(({ url }) => url)
  return () => Promise.all(both.map(({ close }) => close()))
})

test.each(apis)(
  '%s tells the model about images in the history and in tool results, unless the setting refuses them',
  async (path, history, result, notes) => {
    asked.length = 0
    for (const body of [history, result]) {
      expect((await postJson(daemon + path, { model, ...body })).status).toBe(200)
    }
    const texts = asked.filter(({ content }) => /image|document|poem/.test(content))
    expect(texts.map(({ content }) => content)).toEqual(notes)

    expect((await postJson(strict + path, { model, ...result })).status).toBe(400)
  },
)

const lead = { role: 'user', content: 'Hi' }
test.each([
  ['/v1/chat/completions', { messages: [lead, { role: 'user', content: [chatImage] }] }],
  ['/v1/responses', { input: [lead, { role: 'user', content: [inputImage] }] }],
  ['/v1/messages', { max_tokens: 9, messages: [lead, { role: 'user', content: [image] }] }],
  ['/api/chat', { messages: [lead, { role: 'user', content: 'Look', images: [data] }] }],
])("%s refuses an image in the user's new message", async (path, body) => {
  const response = await postJson(daemon + path, { model, ...body })
  expect(response.status).toBe(400)
  expect(await response.text()).toContain('this model cannot see the image')
})
