/** Runs a registry with several nodes on this machine: `scripts/cluster COMMAND`. */
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { untilUp } from './balancer.ts'
import { maxNodes } from './balancer-configuration.ts'
import { down } from './down.ts'
import { addNode } from './nodes.ts'
import { promoteStandby } from './postgres.ts'
import { end } from './processes.ts'
import { startAgain } from './start-again.ts'
import { defaultDirectory, getProcess, readCluster } from './state.ts'
import { listStatus, toTable } from './status.ts'
import { type Optional, up } from './up.ts'

const help = `usage: scripts/cluster COMMAND [options]

Runs a registry with several nodes on this machine, as ordinary processes on 127.0.0.1: PostgreSQL with a standby,
Redis, an S3 server, the nodes, and HAProxy in front of them. Use it only for experiments and tests.

commands:
  up           start a cluster, and print its URL
  status       show each process and its health
  kill NAME    kill a process (SIGKILL), such as redis or node2; 2 is short for node2
  start NAME   restart a killed process, with the same data
  add          add a node
  promote      stop the PostgreSQL primary as in a crash, and promote the standby
  down         stop everything, and delete the folder

options:
  --nodes N           number of nodes to start (default: 3)
  --without s3,redis  omit S3, Redis or both; without S3, there can only be one node
  --directory PATH    the cluster's folder (SHOAL_CLUSTER_DIR; default: ${defaultDirectory()})
  --json              print the status as JSON

All other SHOAL_… variables are passed on to the nodes.`

const directoryVariable = 'SHOAL_CLUSTER_DIR'
const print = (line: string) => process.stdout.write(`${line}\n`)
const say = (line: string) => process.stderr.write(`${line}\n`)

// `process.exit` runs the `exit` handler of `up`, which stops everything that `up` has started.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => process.exit(130))
}
try {
  await main()
} catch (error) {
  say(error instanceof Error ? error.message : String(error))
  process.exit(1)
}

async function main() {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      nodes: { type: 'string', default: '3' },
      without: { type: 'string', default: '' },
      directory: { type: 'string', default: process.env[directoryVariable] || defaultDirectory() },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
  })
  const [command, word, ...rest] = positionals
  if (values.help || command === undefined) return print(help)
  if (rest.length > 0 || (word !== undefined && !takesName(command))) {
    throw new Error(`unexpected argument "${rest[0] ?? word}": see scripts/cluster --help`)
  }
  const directory = resolve(values.directory)
  if (command === 'up') {
    const without = readServices(values.without)
    const nodes = readNumber('--nodes', values.nodes)
    const cluster = await up({ directory, nodes, without, settings: readSettings(), say })
    say(nextSteps(cluster.state.url))
    return print(cluster.state.url)
  }
  const cluster = readCluster(directory)
  if (command === 'down') return down(cluster)
  if (takesName(command)) {
    if (word === undefined)
      throw new Error(
        `${command} needs the name of a process; run scripts/cluster status to list the names`,
      )
    const name = /^\d+$/.test(word) ? `node${word}` : word
    if (command === 'start') return startAgain(cluster, name)
    return end(getProcess(cluster, name), 'SIGKILL')
  }
  if (command === 'add') {
    const { name, port } = await addNode(cluster)
    return print(`${name}: http://127.0.0.1:${port}`)
  }
  if (command === 'promote') {
    await promoteStandby(cluster)
    return untilUp(cluster, 'database', 'standby')
  }
  if (command === 'status') {
    const rows = await listStatus(cluster)
    return print(values.json ? JSON.stringify(rows) : `${cluster.state.url}\n\n${toTable(rows)}`)
  }
  throw new Error(`unknown command "${command}": see scripts/cluster --help`)
}

function nextSteps(url: string): string {
  return `
To publish the demo model, run this in shoal's folder, and then follow the quick tour in README.md:
  export SHOAL_REGISTRY=${url}
  ./shoal register
  ./shoal push models/shoal-tiny/*.gguf --card models/shoal-tiny/README.md --license apache-2.0
`
}

function takesName(command: string): boolean {
  return command === 'kill' || command === 'start'
}

function readServices(list: string): Set<Optional> {
  const names = list.split(',').filter((name) => name !== '')
  const isOptional = (name: string): name is Optional => name === 's3' || name === 'redis'
  const unknown = names.find((name) => !isOptional(name))
  if (unknown !== undefined) throw new Error(`invalid --without "${unknown}": expected s3 or redis`)
  return new Set(names.filter(isOptional))
}

function readNumber(name: string, text: string): number {
  if (/^[1-9]\d?$/.test(text)) return Number(text)
  throw new Error(`invalid ${name} "${text}": expected a whole number from 1 to ${maxNodes}`)
}

/** Returns this process's `SHOAL_…` variables for the nodes, except the variable for the cluster's folder. */
function readSettings(): Record<string, string> {
  const isOurs = (name: string) => name.startsWith('SHOAL_') && name !== directoryVariable
  return Object.fromEntries(
    Object.entries(process.env).flatMap(([name, value]) =>
      isOurs(name) && value !== undefined ? [[name, value]] : [],
    ),
  )
}
