import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'
import type { PullEvent } from '../events.ts'
import type { PulledFile } from '../pull/pull-file.ts'
import type { PullScene } from './pull-scene.ts'
import { type SyntheticFile, toModelFile } from './synthetic-file.ts'

type Line = PullEvent | { type: 'result'; result: PulledFile } | { type: 'failed'; message: string }

export type ChildPull = {
  process: ChildProcess
  lines: Line[]
  /** Resolves with the first matching line, which may have been printed earlier. */
  until(isWanted: (line: Line) => boolean): Promise<Line>
  /** Resolves with the child's exit code, or the signal that ended it. */
  exit: Promise<number | string | null>
}

/** Pulls the scene's file in another process, to the same path. */
export function startChildPull({ origin, path }: PullScene, file: SyntheticFile): ChildPull {
  const script = fileURLToPath(new URL('./pull-in-child.ts', import.meta.url))
  const args = [script, origin.url, path, JSON.stringify(toModelFile(file))]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  onTestFinished(() => {
    child.kill('SIGKILL')
  })
  const lines: Line[] = []
  const listeners = new Set<(line: Line) => void>()
  createInterface(child.stdout).on('line', (text) => {
    const line: Line = JSON.parse(text)
    lines.push(line)
    for (const listener of listeners) listener(line)
  })
  return {
    process: child,
    lines,
    until(isWanted) {
      const past = lines.find(isWanted)
      if (past !== undefined) return Promise.resolve(past)
      return new Promise((resolve) => {
        const listener = (line: Line) => {
          if (!isWanted(line)) return
          listeners.delete(listener)
          resolve(line)
        }
        listeners.add(listener)
      })
    },
    exit: once(child, 'close').then(([code, signal]) => code ?? signal),
  }
}
