import type { ChildProcess } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { until } from './waiting.ts'

/** The parts of Node's diagnostic report that are used here. */
type Report = {
  javascriptStack: { stack?: string[] }
  libuv: { type: string; is_active: boolean; is_referenced?: boolean }[]
  workers: Report[]
}

/** Arguments with which a Node process must be started so that `describeHang` can get a report from it. */
export const reportArguments = (folder: string) => [
  '--report-on-signal',
  `--report-directory=${folder}`,
]

const reportTimeoutMs = 10_000
const framesShown = 4

/**
 * Describes why a Node process does not end: for its main thread and its workers, the handles that keep the thread
 * alive, and the function that is running. If the main thread does not react, describes the system's view of all
 * threads instead.
 */
export async function describeHang(child: ChildProcess, folder: string): Promise<string> {
  child.kill('SIGUSR2')
  const find = () => globSync(join(folder, `report.*.${child.pid}.*.json`)).map(readReport)
  try {
    await until('the report is written', reportTimeoutMs, async () => find().some(Boolean))
    return find().flatMap((report) => (report ? describeThread(report) : []))[0] ?? ''
  } catch (error) {
    return `${error}; threads: ${listThreads(child.pid ?? 0)}`
  }
}

/** Returns undefined while the report is incomplete. */
function readReport(path: string): Report | undefined {
  try {
    return JSON.parse(readFileSync(path, 'utf8'))
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

function describeThread({ libuv, javascriptStack: { stack = [] }, workers = [] }: Report): string {
  const handles = libuv.filter((one) => one.is_active && one.is_referenced !== false)
  const names = handles.map(({ type }) => type).join(', ')
  const frames = stack.slice(0, framesShown).map((line) => line.trim())
  return `handles: ${names || 'none'}; stack: ${frames.join(' < ') || 'none'}${workers
    .map((worker) => `; worker: ${describeThread(worker)}`)
    .join('')}`
}

/** Returns the name of each thread, with the function of the kernel in which it waits (proc(5)). */
function listThreads(pid: number): string {
  const read = (path: string) => readFileSync(path, 'utf8').trim()
  const folders = globSync(`/proc/${pid}/task/*`)
  return folders.map((path) => `${read(`${path}/comm`)} (${read(`${path}/wchan`)})`).join(', ')
}
