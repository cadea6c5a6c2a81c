import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Bench } from './harness/bench.ts'
import { isWanted } from './harness/bench.ts'
import { modelName, publishFile } from './harness/published-file.ts'
import { inTurns } from './harness/rounds.ts'
import { runShoal } from './harness/shoal.ts'
import { needRoom, temporaryFolder } from './harness/temporary-folder.ts'
import { inSequence, needTools, runTool, type Usage } from './harness/tool.ts'
import { reportUsage } from './harness/usage-table.ts'

export const bench: Bench = {
  summary: 'shoal pull of one file against aria2c, and against curl with sha256sum',

  async run(options, report) {
    await needRoom(options.sizeBytes * 3.5)
    needTools('aria2c', 'curl', 'sha256sum', 'sync')
    using folder = temporaryFolder()
    const { registry, download } = await publishFile(folder.path, options.sizeBytes)
    await using _ = registry
    report.title(`pull: ${(options.sizeBytes / 2 ** 30).toFixed(1)} GiB over loopback`)

    const target = join(folder.path, 'target')
    const file = join(target, 'file.gguf')
    const aria2 = (...more: string[]) =>
      runTool('aria2c', [
        ...['--no-conf', '--quiet', '-x8', '-s8', '--file-allocation=none'],
        ...['--dir', target, '--out', 'file.gguf', ...more, download.direct_url],
      ])
    const toDisk = () => runTool('sync', [file])
    const hash = () => runTool('sha256sum', [file])
    const sides: Record<string, () => Promise<Usage>> = {
      'shoal pull': () =>
        runShoal(['pull', modelName, '--yes'], { home: target, registry: registry.answer }),
      'aria2c -x8 -s8': () => aria2(),
      'aria2c, sync': async () => inSequence(await aria2(), await toDisk()),
      'aria2c --checksum, sync': async () =>
        inSequence(await aria2(`--checksum=sha-256=${download.sha256_hash}`), await toDisk()),
      'curl, sha256sum': async () =>
        inSequence(
          await runTool('curl', ['--silent', '--fail', '-o', file, download.direct_url]),
          await hash(),
        ),
    }
    const wanted = Object.entries(sides).filter(([name]) => isWanted(options, name))
    const fromEmpty = wanted.map(([name, side]) => [name, () => onEmptyDisk(side)] as const)
    reportUsage(
      report,
      await inTurns(options.rounds, Object.fromEntries(fromEmpty)),
      'aria2c -x8 -s8',
    )
    report.say(
      '`shoal pull` verifies each chunk and the whole file, and ends when the file is synced to disk. Without `--checksum` and `sync`, aria2c verifies nothing and leaves the data in the page cache.',
    )

    /** Runs a side with an empty target folder, after the data written by the previous side has reached the disk. */
    async function onEmptyDisk(side: () => Promise<Usage>) {
      rmSync(target, { recursive: true, force: true })
      mkdirSync(target)
      await runTool('sync', [])
      return side()
    }
  },
}
