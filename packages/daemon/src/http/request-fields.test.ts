/** Tests that each documented field of an API is supported, refused or ignored, as `docs/request-fields.md` states. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  ChatRequest,
  CompletionRequest,
  InfillRequest,
  MessagesRequest,
  OllamaChatRequest,
  OllamaGenerateRequest,
  ollamaOptions,
  RerankRequest,
  ResponseRequest,
} from '@shoal/protocol'
import { describe, expect, test } from 'vitest'
import { postJson } from '../testing/post-json.ts'
import { scriptedRuntime } from '../testing/scripted-runtime.ts'
import { useTestDaemon } from '../testing/test-daemon.ts'
import { type UnsupportedFields, unsupportedFields } from './request-fields.ts'

const root = join(import.meta.dirname, '../../../..')
const page = readFileSync(join(root, 'docs/request-fields.md'), 'utf8')

/** The fields that a client's types declare for a request. */
function declaredIn(path: string, ...interfaces: string[]): string[] {
  const source = readFileSync(join(root, 'node_modules', path), 'utf8')
  return interfaces.flatMap((name) => {
    const body = source.split(new RegExp(`interface ${name} [^{]*\\{\\n`))[1]?.split('\n}')[0] ?? ''
    return Array.from(body.matchAll(/^ {4}'?(\w+)'?\??:/gm), ([, field = '']) => field)
  })
}

/** The fields in one row of the table in a section of the page. */
function documented(section: string, row: string): string[] {
  const text = page.split(`## ${section}\n`)[1]?.split('\n## ')[0] ?? ''
  const cell = text.split('\n').find((line) => line.startsWith(`| ${row} |`)) ?? ''
  return Array.from(cell.matchAll(/`([\w.]+)`/g), ([, field = '']) => field)
}

type Api = {
  schema: object[]
  refused: UnsupportedFields
  /** The fields that the API's own client declares. */
  declared: string[]
  path: string
  request: (fields: object) => object
}

const content = 'Hi'
const messages = [{ role: 'user', content }]
const model = 'shoal-nano'
const ollama = 'ollama/dist/browser.d.ts'

const apis: Record<string, Api> = {
  'Chat completions': {
    schema: [ChatRequest.properties],
    refused: unsupportedFields.chat,
    declared: declaredIn(
      'openai/resources/chat/completions/completions.d.ts',
      'ChatCompletionCreateParamsBase',
    ),
    path: '/v1/chat/completions',
    request: (fields) => ({ model, messages, ...fields }),
  },
  Completions: {
    schema: [CompletionRequest.properties],
    refused: unsupportedFields.completions,
    declared: declaredIn('openai/resources/completions.d.ts', 'CompletionCreateParamsBase'),
    path: '/v1/completions',
    request: (fields) => ({ model, prompt: content, ...fields }),
  },
  Responses: {
    schema: [ResponseRequest.properties],
    refused: unsupportedFields.responses,
    declared: declaredIn('openai/resources/responses/responses.d.ts', 'ResponseCreateParamsBase'),
    path: '/v1/responses',
    request: (fields) => ({ model, input: content, ...fields }),
  },
  Messages: {
    schema: [MessagesRequest.properties],
    refused: unsupportedFields.messages,
    declared: declaredIn(
      '@anthropic-ai/sdk/resources/beta/messages/messages.d.ts',
      'MessageCreateParamsBase',
    ),
    path: '/v1/messages',
    request: (fields) => ({ model, max_tokens: 9, messages, ...fields }),
  },
  Infill: {
    schema: [InfillRequest.properties],
    refused: unsupportedFields.infill,
    declared: [],
    path: '/infill',
    request: (fields) => ({ model, input_prefix: content, input_suffix: '', ...fields }),
  },
  Rerank: {
    schema: [RerankRequest.properties],
    refused: unsupportedFields.rerank,
    declared: [],
    path: '/v1/rerank',
    request: (fields) => ({ model, query: content, documents: [content], ...fields }),
  },
  Ollama: {
    schema: [OllamaChatRequest.properties, OllamaGenerateRequest.properties],
    refused: unsupportedFields.ollama,
    declared: declaredIn(ollama, 'ChatRequest', 'GenerateRequest'),
    path: '/api/generate',
    request: (fields) => ({ model, prompt: content, stream: false, ...fields }),
  },
  "Ollama's options": {
    schema: [ollamaOptions.properties],
    refused: unsupportedFields.ollamaOptions,
    declared: declaredIn(ollama, 'Options'),
    path: '/api/generate',
    request: (options) => ({ model, prompt: content, stream: false, options }),
  },
}

describe.each(Object.entries(apis))('%s', (name, { schema, refused, declared, path, request }) => {
  const supported = [...new Set(schema.flatMap((one) => Object.keys(one)))]
  const ignored = documented(name, 'ignored')

  test('the page lists each documented field once', () => {
    expect(documented(name, 'supported').toSorted()).toEqual(supported.toSorted())
    expect(documented(name, 'refused').toSorted()).toEqual(Object.keys(refused).toSorted())
    const all = [...supported, ...Object.keys(refused), ...ignored]
    expect(all.filter((field, index) => all.indexOf(field) !== index)).toEqual([])
    if (!['Infill', 'Rerank'].includes(name)) expect(declared.length).toBeGreaterThan(9)
    expect(declared.filter((field) => !all.includes(field))).toEqual([])
  })

  test('fields are refused by name unless they have no effect, and ignored fields have no effect', async () => {
    const { url } = await useTestDaemon({}, scriptedRuntime())
    const send = async (fields: object) => {
      const response = await postJson(url + path, request(fields))
      return { status: response.status, text: await response.text() }
    }
    for (const [field, [neutral = null]] of Object.entries(refused)) {
      const { status, text } = await send({ [field]: { strange: 1 } })
      expect([status, text]).toEqual([400, expect.stringContaining(`${field} is not supported`)])
      expect((await send({ [field]: neutral })).status).toBe(200)
    }
    const strange = Object.fromEntries(ignored.map((field) => [field, { strange: 1 }]))
    expect((await send(strange)).status).toBe(200)
  })
})
