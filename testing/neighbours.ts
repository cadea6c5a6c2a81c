/** Simulates three machines on one, with Linux network namespaces. Requires root, and `ip` from Debian's iproute2. */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { needProgram } from './programs.ts'

export type Neighbours = ReturnType<typeof makeNeighbours>

/** The address at which the other two machines reach the registry's machine. */
const registryAddress = '10.77.0.1'
let count = 0

/**
 * Creates one machine for a registry, and two machines on the same local network. Each of these two has a separate link
 * to the registry, so neither can reach the other at the address that the tracker sees.
 */
export function makeNeighbours() {
  deleteAbandoned()
  using stack = new DisposableStack()
  const folder = mkdtempSync(join(tmpdir(), 'shoal-neighbours-'))
  stack.defer(() => rmSync(folder, { recursive: true, force: true }))
  count += 1
  const make = (role: string) =>
    stack.use(new Machine(`shoal-${process.pid}-${count}-${role}`, folder))
  const [registry, first, second] = [make('registry'), make('first'), make('second')]

  connect([first, 'lan', '192.168.77.1'], [second, 'lan', '192.168.77.2'])
  registry.ip('address', 'add', registryAddress, 'dev', 'lo')
  connect([registry, 'line-1', '10.77.1.1'], [first, 'line', '10.77.1.2'])
  connect([registry, 'line-2', '10.77.2.1'], [second, 'line', '10.77.2.2'])
  first.ip('route', 'add', registryAddress, 'via', '10.77.1.1')
  second.ip('route', 'add', registryAddress, 'via', '10.77.2.1')

  const kept = stack.move()
  const dispose = () => kept.dispose()
  process.once('exit', dispose)
  return {
    registry,
    registryAddress,
    first,
    second,
    [Symbol.dispose]() {
      process.off('exit', dispose)
      dispose()
    },
  }
}

/** Whether this system allows network namespaces to be created. */
export function canMakeNeighbours(): boolean {
  try {
    makeNeighbours()[Symbol.dispose]()
    return true
  } catch {
    return false
  }
}

export class Machine implements Disposable {
  readonly name: string
  readonly #folder: string

  constructor(name: string, folder: string) {
    run('ip', 'netns', 'add', name)
    this.name = name
    this.#folder = folder
    this.ip('link', 'set', 'lo', 'up')
  }

  ip(...words: string[]) {
    run('ip', '-n', this.name, ...words)
  }

  /**
   * Returns the path of a script that runs the program at `path` on this machine. The program is killed when the
   * process that started it ends.
   */
  program(path: string): string {
    const script = join(this.#folder, `${this.name}-${basename(path)}`)
    const words = `setpriv --pdeathsig KILL ${needProgram('ip')} netns exec ${this.name} '${path}' "$@"`
    writeFileSync(script, `#!/bin/sh\nexec ${words}\n`, { mode: 0o755 })
    return script
  }

  /** Sets a kernel parameter, like `sysctl`. */
  configure(setting: string, value: string) {
    run('ip', 'netns', 'exec', this.name, 'sh', '-c', `echo ${value} > /proc/sys/${setting}`)
  }

  plugIn(device: string, address: string) {
    this.ip('address', 'add', `${address}/24`, 'dev', device)
    this.ip('link', 'set', device, 'up')
  }

  unplug(device: string) {
    this.ip('link', 'set', device, 'down')
  }

  /** Limits the sending rate of a device, for example to `40mbit`. */
  limit(device: string, rate: string) {
    const shape = ['tbf', 'rate', rate, 'burst', '128kb', 'latency', '100ms']
    run('tc', '-n', this.name, 'qdisc', 'replace', 'dev', device, 'root', ...shape)
  }

  [Symbol.dispose]() {
    run('ip', 'netns', 'delete', this.name)
  }
}

/** Deletes namespaces that killed processes have left behind. */
function deleteAbandoned() {
  const folder = '/run/netns'
  for (const name of existsSync(folder) ? readdirSync(folder) : []) {
    const pid = /^shoal-(\d+)-/.exec(name)?.[1]
    if (pid && !existsSync(`/proc/${pid}`)) run('ip', 'netns', 'delete', name)
  }
}

type Plug = [machine: Machine, device: string, address: string]

/** Connects two machines with a virtual cable, and assigns an address to the device at each end. */
function connect([one, device, address]: Plug, [other, deviceThere, addressThere]: Plug) {
  const there = ['name', deviceThere, 'netns', other.name]
  one.ip('link', 'add', device, 'type', 'veth', 'peer', ...there)
  one.plugIn(device, address)
  other.plugIn(deviceThere, addressThere)
}

function run(program: string, ...words: string[]) {
  execFileSync(needProgram(program), words, { stdio: ['ignore', 'ignore', 'pipe'] })
}
