import { readdirSync, readFileSync } from 'node:fs'

/** Returns the command lines of the processes whose command line contains this text (Linux). */
export function findProcesses(text: string): string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(readCommand)
    .filter((command) => command.includes(text))
}

/** Returns the command line of a process; empty if it has exited. */
function readCommand(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException
    if (!['ENOENT', 'ESRCH'].includes(code)) throw error
    return ''
  }
}
