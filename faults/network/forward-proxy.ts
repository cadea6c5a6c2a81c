/** Tests pull and push through a working forward proxy (tinyproxy), over HTTP, and over HTTPS with a private CA. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { randomFrom } from '../../bench/harness/random.ts'
import { freePort } from '../../testing/free-port.ts'
import { findProgram } from '../../testing/programs.ts'
import { makeContent } from '../harness/contents.ts'
import { until } from '../harness/waiting.ts'
import { runCommand } from './command.ts'
import { filename, modelName, openLane } from './lane.ts'
import { expectSo, type NetworkRound, type Scene } from './round.ts'
import { hashFile } from './run-cell.ts'

const transports = ['proxied http', 'proxied https'] as const

export const forwardProxy: NetworkRound = {
  name: 'forward-proxy',
  summary: 'Pull and push through tinyproxy, over HTTP, and over HTTPS with a private CA.',
  needs: 'tinyproxy',
  run: throughTinyproxy,
}

async function throughTinyproxy(scene: Scene): Promise<string> {
  const { bytes } = makeContent(randomFrom(scene.seed), 'large')
  for (const transport of transports) {
    const name = transport.replace(' ', '-')
    const [folder, logFolder] = [join(scene.folder, name), join(scene.logFolder, name)]
    mkdirSync(folder, { recursive: true })
    const log = join(folder, 'tinyproxy.log')
    const inFront = (port: number) => startTinyproxy({ ...scene, folder }, port, log)
    const lane = await openLane({ ...scene, folder, logFolder, transport, inFront }, bytes) // pushes a model
    const ended = await runCommand({
      words: ['pull', modelName, '--no-peers', '--json', '--registry', lane.address],
      home: folder,
      env: lane.env,
      timeoutMs: 60_000 * scene.timeoutFactor,
    })
    expectSo(ended.exitCode === 0, `pull over ${transport}: ${ended.stdout}${ended.stderr}`)
    const path = join(folder, 'data', 'models', modelName, filename)
    expectSo(hashFile(path) === lane.sha256, `the file pulled over ${transport} has wrong bytes`)
    const passed = readFileSync(log, 'utf8').match(/^CONNECT .*(CONNECT|GET|PUT|POST) /gm) ?? []
    expectSo(passed.length > 0, `no request went through tinyproxy over ${transport}`)
  }
  return 'correct bytes over HTTP and HTTPS'
}

/**
 * Starts tinyproxy, which forwards everything to the fault proxy. The fault proxy is also a forward proxy, and forwards
 * to the registry's current port.
 */
async function startTinyproxy(
  { folder, cleanup, timeoutFactor }: Scene,
  upstreamPort: number,
  log: string,
): Promise<string> {
  const program = findProgram('tinyproxy')
  if (!program) throw new Error('tinyproxy is not installed')
  const port = await freePort()
  const config = join(folder, 'tinyproxy.conf')
  writeFileSync(
    config,
    [
      `Port ${port}`,
      'Listen 127.0.0.1',
      `LogFile "${log}"`,
      'LogLevel Connect',
      'Timeout 60',
      'MaxClients 50',
      `Upstream http 127.0.0.1:${upstreamPort}`,
      '',
    ].join('\n'),
  )
  const child = spawn(program, ['-d', '-c', config], { stdio: 'ignore' })
  cleanup.defer(() => child.kill('SIGKILL'))
  await until('tinyproxy listens', 20_000 * timeoutFactor, async () => {
    expectSo(child.exitCode === null, `tinyproxy exited with ${child.exitCode}`)
    return existsSync(log) && (await isListening(port))
  })
  return `http://127.0.0.1:${port}`
}

async function isListening(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1')
  try {
    await once(socket, 'connect')
    return true
  } catch {
    return false // it is still starting
  } finally {
    socket.destroy()
  }
}
