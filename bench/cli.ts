import type { Bench } from './harness/bench.ts'
import { digits, median } from './harness/numbers.ts'
import { inTurns } from './harness/rounds.ts'
import { shoalProgram } from './harness/shoal.ts'
import { temporaryFolder } from './harness/temporary-folder.ts'
import { needTool, runTool, type Usage } from './harness/tool.ts'

const goalMs = 500
const goalMegabytes = 550

export const bench: Bench = {
  summary: 'run time of short commands, with and without npx, and size of node_modules',

  async run(options, report) {
    const npx = needTool('npx')
    using home = temporaryFolder()
    const shoal = (words: string[], env = {}) =>
      runTool(process.execPath, [shoalProgram, ...words], { SHOAL_HOME: home.path, ...env })
    const commands: Record<string, () => Promise<Usage>> = {
      'npx shoal --version': () => runTool(npx, ['shoal', '--version']),
      'shoal --version': () => shoal(['--version']),
      'shoal ls': () => shoal(['ls']),
      'shoal --help': () => shoal(['--help']),
      'shoal ls, without Node’s compile cache': () =>
        shoal(['ls'], { NODE_DISABLE_COMPILE_CACHE: '1' }),
      '`node -e 0`, for comparison': () => runTool(process.execPath, ['-e', '0']),
    }
    for (const run of Object.values(commands)) await run() // fills the compile cache
    const rounds = await inTurns(options.rounds, commands)
    report.title(`cli: goal for npx shoal ≤ ${goalMs} ms`)
    report.table(
      ['command', 'duration, ms', 'slowest, ms'],
      Object.entries(rounds).map(([name, usages]) => {
        const ms = usages.map(({ wallSeconds }) => wallSeconds * 1000)
        return [name, digits(median(ms)), digits(Math.max(...ms))]
      }),
    )
    const { output } = await runTool(needTool('du'), ['-sm', 'node_modules'])
    report.say(`node_modules: ${output.split('\t')[0]} MiB; goal ≤ ${goalMegabytes} MiB.`)
  },
}
