/** Kills a command (kill -9) at random moments and runs it again each time; the last run must succeed. */
import { existsSync, mkdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { randomFrom } from '../../bench/harness/random.ts'
import { makeContent } from '../harness/contents.ts'
import { until } from '../harness/waiting.ts'
import { runCommand, startCommand } from './command.ts'
import { filename, type Lane, modelName, openLane } from './lane.ts'
import { expectSo, type NetworkRound, type Scene } from './round.ts'
import { hashFile } from './run-cell.ts'

const kills = 5
/** The transfer rate limit of each command, per second. At this rate, an 18 MB file takes a few seconds. */
const rate = '6MB'

export const commandKills: NetworkRound[] = [
  {
    name: 'kill-pull',
    summary:
      'Kill a pull repeatedly (kill -9); the resumed and finished pull must count as one download.',
    run: killPull,
  },
  {
    name: 'kill-push',
    summary:
      'Kill a push repeatedly (kill -9); the resumed and finished push must publish one file.',
    run: killPush,
  },
]

async function killPull(scene: Scene): Promise<string> {
  const { lane, random, home } = await openScene(scene)
  const path = join(home, 'data', 'models', modelName, filename)
  const words = ['pull', modelName, '--no-peers']
  const before = await countDownloads(lane)
  for (let times = 0; times < kills; times += 1) {
    await killDuring(scene, lane, { words, home }, async (isOver) => {
      // The first kill occurs before any byte has arrived; later kills occur at random positions in the file.
      if (times > 0) await untilMoreThan(`${path}.part`, random.integer(12_000_000), isOver)
      await sleep(random.integer(times === 0 ? 150 : 300))
    })
    expectSo(!existsSync(path) || hashFile(path) === lane.sha256, 'wrong bytes after kill -9')
  }
  await finish(scene, lane, { words, home })
  expectSo(
    existsSync(path) && hashFile(path) === lane.sha256,
    'the file of the resumed pull is missing or has wrong bytes',
  )
  const counted = (await countDownloads(lane)) - before
  expectSo(counted === 1, `the resumed pull was counted as ${counted} downloads`)
  return `correct bytes after ${kills} kills, one download counted`
}

async function killPush(scene: Scene): Promise<string> {
  const { lane, random, home } = await openScene(scene)
  const { bytes, manifest } = makeContent(random, 'large')
  const path = join(home, 'pushed.gguf')
  writeFileSync(path, bytes)
  const words = ['push', path, '--name', 'pushed']
  for (let times = 0; times < kills; times += 1) {
    await killDuring(scene, lane, { words, home }, () => sleep(300 + random.integer(2_500)))
  }
  await finish(scene, lane, { words, home })
  const files = await lane.client.listFiles('pushed', { status: 'all' })
  const [file] = files
  expectSo(files.length === 1, `the resumed push published ${files.length} files`)
  expectSo(file?.status === 'ready', `the pushed file is ${file?.status}`)
  expectSo(file.sha256_hash === manifest.sha256_hash, 'the pushed file has wrong bytes')
  return `one file with the correct bytes after ${kills} kills`
}

async function openScene(scene: Scene) {
  const random = randomFrom(scene.seed)
  const lane = await openLane({ ...scene, transport: 'http' }, makeContent(random, 'large').bytes)
  const home = join(scene.folder, 'home')
  mkdirSync(home)
  return { lane, random, home }
}

type Command = { words: string[]; home: string }

async function killDuring(
  { cleanup }: Scene,
  lane: Lane,
  { words, home }: Command,
  moment: (isOver: () => boolean) => Promise<unknown>,
) {
  const all = [...words, '--limit-rate', rate, '--json', '--registry', lane.address]
  const { child, output } = startCommand({ words: all, home, env: lane.env })
  cleanup.defer(() => child.kill('SIGKILL'))
  await moment(() => child.exitCode !== null)
  child.kill('SIGKILL')
  await output
}

async function finish({ timeoutFactor }: Scene, lane: Lane, { words, home }: Command) {
  const ended = await runCommand({
    words: [...words, '--json', '--registry', lane.address],
    home,
    env: lane.env,
    timeoutMs: 60_000 * timeoutFactor,
  })
  const output = `${ended.stdout}${ended.stderr}`.trim().slice(-500)
  expectSo(
    ended.exitCode === 0,
    `after the kills, the command exited with ${ended.exitCode}: ${output}`,
  )
}

/**
 * Waits until more than `bytes` have been written to a file, or until `isOver` returns true. Counts the blocks on the
 * disk, because a partial file has its full length from the start.
 */
async function untilMoreThan(path: string, bytes: number, isOver: () => boolean) {
  const countBlocks = () => statSync(path, { throwIfNoEntry: false })?.blocks ?? 0
  await until('bytes arrive', 30_000, () => isOver() || countBlocks() * 512 > bytes)
}

async function countDownloads({ client }: Lane): Promise<number> {
  return (await client.getModel(modelName)).downloads
}
