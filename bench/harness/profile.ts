import { readFileSync } from 'node:fs'
import type { Report } from './report.ts'

type ProfileNode = {
  id: number
  callFrame: { functionName: string; url: string; lineNumber: number }
}
type Profile = { nodes: ProfileNode[]; samples: number[]; timeDeltas: number[] }

type Share = { name: string; share: number }

/** Each share is a fraction of the time during which the process was not idle. */
type ProfileSummary = {
  functions: Share[]
  packages: Share[]
}

/** Reports how the CPU time was spent, based on a CPU profile from Node's inspector. */
export function reportProfile(report: Report, title: string, path: string) {
  const { functions, packages } = summarizeProfile(path)
  const rows = (shares: Share[], count: number) =>
    shares.slice(0, count).map(({ name, share }) => [name, `${(share * 100).toFixed(1)} %`])
  report.title(`CPU profile of the registry: ${title}`)
  report.table(['package', 'self time'], rows(packages, 10))
  report.table(['function', 'self time'], rows(functions, 25))
}

function summarizeProfile(path: string): ProfileSummary {
  const functions = new Map<string, number>()
  const packages = new Map<string, number>()
  let total = 0
  const { nodes, samples, timeDeltas }: Profile = JSON.parse(readFileSync(path, 'utf8'))
  const nodesById = new Map(nodes.map((node) => [node.id, node]))
  samples.forEach((id, at) => {
    const frame = nodesById.get(id)?.callFrame
    const micros = timeDeltas[at] ?? 0
    const isOurs = frame && frame.functionName !== '(idle)' && frame.url !== 'node:inspector'
    if (!isOurs || micros < 0) return
    total += micros
    add(functions, formatFrame(frame), micros)
    add(packages, getPackageName(frame), micros)
  })
  const ranked = (times: Map<string, number>) =>
    [...times]
      .map(([name, micros]) => ({ name, share: micros / total }))
      .sort((a, b) => b.share - a.share)
  return { functions: ranked(functions), packages: ranked(packages) }
}

function add(times: Map<string, number>, name: string, micros: number) {
  times.set(name, (times.get(name) ?? 0) + micros)
}

function formatFrame({ functionName, url, lineNumber }: ProfileNode['callFrame']): string {
  const name = functionName || '(anonymous)'
  return url === '' ? `${name} (native)` : `${name} ${shortUrl(url)}:${lineNumber + 1}`
}

function shortUrl(url: string): string {
  return url.replace(/^file:\/\/.*\/(node_modules|packages|bench)\//, '')
}

function getPackageName({ functionName, url }: ProfileNode['callFrame']): string {
  if (functionName === '(garbage collector)') return 'garbage collector'
  if (functionName === '(program)') return 'Node.js (program)'
  if (url === '') return 'native functions (SQLite, sockets, JSON)'
  if (url.startsWith('node:')) return 'Node.js modules'
  const short = shortUrl(url)
  const parts = short.split('/')
  return short.startsWith('@') ? parts.slice(0, 2).join('/') : (parts[0] ?? short)
}
