import { expect, test } from 'vitest'
import type { KnownRequest, Step, StepRequest } from './steps.ts'
import { serverOfTest } from './testing/server-of-test.ts'

/** Starts a server that answers `/known` without Fastify, and everything else with it. */
async function serverWith(
  steps: Step<StepRequest>[],
  beforeSend?: KnownRequest<StepRequest>['beforeSend'],
) {
  return await serverOfTest((app) => app.get('/*', async () => 'by Fastify'), {
    steps,
    shortcut: ({ url = '', headers, socket }) =>
      url === '/known'
        ? {
            request: {
              ...{ id: 'known-1', ip: '192.0.2.1', method: 'GET', url, headers, socket },
              route: { url: '/known', config: {} } as StepRequest['route'],
            },
            beforeSend,
            send: (response, more) => response.writeHead(200, more).end('by the shortcut'),
          }
        : undefined,
  })
}

const paths = ['/known', '/other']
const bodies = ['by the shortcut', 'by Fastify']

test('every request goes through the same steps in the same order, with or without Fastify', async () => {
  const taken: string[] = []
  const { url, requestLines } = await serverWith([
    ({ url: path }) => void taken.push(`first ${path}`),
    async ({ url: path }, reply) => {
      reply.header('x-step', 'taken')
      taken.push(`second ${path}`)
    },
    ({ url: path }) => void taken.push(`third ${path}`),
  ])
  for (const [at, path] of paths.entries()) {
    const answer = await fetch(url + path)
    expect([await answer.text(), answer.headers.get('x-step')]).toEqual([bodies[at], 'taken'])
    expect(answer.headers.get('x-request-id')).toBeTruthy()
  }
  const turns = ['first', 'second', 'third']
  expect(taken).toEqual(paths.flatMap((path) => turns.map((turn) => `${turn} ${path}`)))
  expect(await requestLines(2)).toMatchObject(paths.map((path) => ({ path, status: 200 })))
})

const refusal = Object.assign(new Error('closed on Sundays'), { statusCode: 403 })

test.each<[string, Step<StepRequest>]>([
  ['returns', () => refusal],
  ['rejects with', () => Promise.reject(refusal)],
])(
  'a request is refused with the error that a step %s, and later steps are skipped',
  async (_, step) => {
    const later: string[] = []
    const { url, requestLines } = await serverWith([
      (_request, reply) => void reply.header('x-step', 'taken'),
      step,
      ({ url: path }) => void later.push(path),
    ])
    for (const path of paths) {
      const answer = await fetch(url + path, { headers: { 'x-request-id': 'known-1' } })
      expect([answer.status, await answer.json()]).toEqual([403, { detail: 'closed on Sundays' }])
      expect(answer.headers.get('x-step')).toBe('taken')
      expect(answer.headers.get('x-request-id')).toBe('known-1')
    }
    expect(later).toEqual([])
    expect(await requestLines(2)).toMatchObject(
      paths.map((path) => ({ path, status: 403, reqId: 'known-1' })),
    )
  },
)

test('a step can answer with an empty response', async () => {
  const { url } = await serverWith([() => ({ status: 204, headers: { allow: 'GET' } })])
  for (const path of paths) {
    const { status, headers } = await fetch(url + path)
    expect([status, headers.get('allow')]).toEqual([204, 'GET'])
  }
})

test('a request is refused if the action before its response fails, and is logged once', async () => {
  const taken: string[] = []
  const { url, requestLines } = await serverWith([({ url: path }) => void taken.push(path)], () =>
    Promise.reject(refusal),
  )
  expect((await fetch(`${url}/known`)).status).toBe(403)
  expect((await fetch(`${url}/other`)).status).toBe(200)
  expect(taken).toEqual(paths)
  expect(await requestLines(2)).toMatchObject([
    { path: '/known', status: 403 },
    { path: '/other', status: 200 },
  ])
})
