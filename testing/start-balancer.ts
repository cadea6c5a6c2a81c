import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { needProgram } from './programs.ts'
import { accepts, untilStarted } from './until-started.ts'

export type Balancer = {
  port: number
  stop(): Promise<void>
}

/** Starts HAProxy on `port`. It distributes requests in turn among `servers`, which are ports on this machine. */
export async function startBalancer(port: number, servers: readonly number[]): Promise<Balancer> {
  const directory = mkdtempSync(join(tmpdir(), 'shoal-balancer-'))
  const path = join(directory, 'haproxy.cfg')
  writeFileSync(path, configuration(port, servers))
  const child = spawn(needProgram('haproxy'), ['-db', '-f', path], { stdio: 'ignore' })
  const exited = once(child, 'exit')
  const isRunning = () => child.exitCode === null && child.signalCode === null
  const stop = async () => {
    child.kill('SIGKILL')
    await exited
    rmSync(directory, { recursive: true, force: true })
  }
  try {
    await untilStarted('HAProxy', () => accepts(port), { isRunning })
  } catch (error) {
    await stop()
    throw error
  }
  return { port, stop }
}

const configuration = (port: number, servers: readonly number[]) => `defaults
  mode http
  timeout connect 5s
  timeout client 75s
  timeout server 75s
  timeout tunnel 1h

frontend web
  bind 127.0.0.1:${port}
  option forwardfor
  default_backend nodes

backend nodes
  balance roundrobin
${servers.map((server, index) => `  server node${index + 1} 127.0.0.1:${server}`).join('\n')}
`
