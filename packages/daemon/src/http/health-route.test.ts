import { expect, test } from 'vitest'
import { useTestDaemon } from '../testing/test-daemon.ts'
import { computeProof, isSameProof } from './proof.ts'

const nonce = 'a-nonce'

async function health(url: string, query: string) {
  const response = await fetch(`${url}/healthz${query}`)
  return (await response.json()) as { status: string; pid: number; proof?: string }
}

test("a proof is valid only for the daemon's token, the nonce, and the address to which the request was sent", async () => {
  const { port } = await useTestDaemon({ proofToken: 'token', host: '127.0.0.1' })
  const { proof = '' } = await health(`http://127.0.0.1:${port}`, `?nonce=${nonce}`)
  expect(isSameProof(proof, computeProof('token', nonce, { address: '127.0.0.1', port }))).toBe(
    true,
  )
  expect(proof).not.toContain('token')
  for (const other of [
    computeProof('another', nonce, { address: '127.0.0.1', port }),
    computeProof('token', 'another', { address: '127.0.0.1', port }),
    computeProof('token', nonce, { address: '::1', port }),
    computeProof('token', nonce, { address: '127.0.0.1', port: port + 1 }),
  ]) {
    expect(isSameProof(proof, other)).toBe(false)
  }
})

test('there is no proof if the nonce is missing or invalid, or if the daemon has no token', async () => {
  const known = await useTestDaemon({ proofToken: 'token' })
  for (const query of ['', '?nonce=a&nonce=b', `?nonce=${'a'.repeat(101)}`]) {
    expect(await health(known.url, query)).toEqual({ status: 'ok', pid: process.pid })
  }
  const unknown = await useTestDaemon()
  expect(await health(unknown.url, `?nonce=${nonce}`)).toEqual({ status: 'ok', pid: process.pid })
})
