import { movedClock } from '@shoal/core/testing'
import { describe, expect, it, onTestFinished } from 'vitest'
import { pace } from './pace.ts'

const registryRate = 1_000_000
const turnMs = 6_000

/**
 * Starts a simulated pull whose registry delivers 1 MB per second. `swarmBytes` returns the number of bytes that the
 * swarm has delivered after this many milliseconds of its turn.
 */
function startPull(
  swarmBytes: (turnTimeMs: number) => number,
  {
    peers = () => 3,
    pullers = () => 0,
    fastBytesPerSecond = 60e6,
  }: { peers?: () => number; pullers?: () => number; fastBytesPerSecond?: number } = {},
) {
  const clock = movedClock()
  let registryMs = 0
  let swarmMs = 0
  const turns = pace(
    {
      registryBytes: () => (registryMs / 1000) * registryRate,
      swarmBytes: () => swarmBytes(swarmMs),
      peers,
      pullers,
    },
    { fastBytesPerSecond, turnMs, sampleBytes: 2e6, onlyPeers: false, clock },
  )
  onTestFinished(turns.close)
  return {
    /** Lets time pass. Returns the sides that had a turn, in order. */
    pass(seconds: number) {
      const sides = [turns.side()]
      for (let step = 0; step < seconds * 10; step += 1) {
        if (turns.side() === 'registry') registryMs += 100
        else swarmMs += 100
        clock.advance(100)
        if (turns.side() !== sides.at(-1)) sides.push(turns.side())
      }
      return sides
    },
  }
}

describe('pace', () => {
  it('keeps a swarm that is as fast as the registry, although its first pieces arrive late', () => {
    const piecesOf4MB = (ms: number) => Math.floor((ms / 1000) * (registryRate / 4e6)) * 4e6
    expect(startPull(piecesOf4MB).pass(60)).toEqual(['registry', 'swarm'])
  })

  it('leaves a swarm that is clearly slower than the registry, and tries again after a minute', () => {
    const pull = startPull((ms) => (ms / 1000) * registryRate * 0.5)
    expect(pull.pass(10)).toEqual(['registry', 'swarm', 'registry'])
    expect(pull.pass(55)).toEqual(['registry'])
    expect(pull.pass(10)).toContain('swarm')
  })

  it('stays in a swarm of pullers that is slower than the registry, which they would share', () => {
    const halfAsFast = (ms: number) => (ms / 1000) * registryRate * 0.5
    const pull = startPull(halfAsFast, { pullers: () => 2 })
    expect(pull.pass(60)).toEqual(['registry', 'swarm'])
  })

  it('leaves a swarm that delivers nothing', () => {
    expect(startPull(() => 0).pass(20)).toEqual(['registry', 'swarm', 'registry'])
  })

  it('gives a swarm of which few pieces have arrived more time before it is left', () => {
    const onePieceAfter = (seconds: number) => (ms: number) => (ms > seconds * 1000 ? 1e6 : 0)
    const pull = startPull(onePieceAfter(2))
    expect(pull.pass(20)).toEqual(['registry', 'swarm'])
    expect(pull.pass(6)).toEqual(['swarm', 'registry'])
  })

  it('leaves a swarm without peers', () => {
    let peers = 3
    const pull = startPull((ms) => (ms / 1000) * registryRate, { peers: () => peers })
    expect(pull.pass(10)).toEqual(['registry', 'swarm'])
    peers = 0
    expect(pull.pass(6)).toEqual(['swarm', 'registry'])
  })

  it('uses only the registry as long as there are no peers', () => {
    expect(startPull(() => 0, { peers: () => 0 }).pass(30)).toEqual(['registry'])
  })

  it('uses only the registry if it is fast', () => {
    const pull = startPull(() => 0, { fastBytesPerSecond: registryRate * 0.9 })
    expect(pull.pass(30)).toEqual(['registry'])
  })
})
