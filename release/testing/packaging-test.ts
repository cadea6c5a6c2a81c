import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished, test } from 'vitest'
import { cachedBuild, hashFiles } from '../../testing/build-cache.ts'

const root = join(import.meta.dirname, '../..')

/**
 * What packaging depends on: its code, the installed packages, and the files that are copied into a release. The
 * program's own modules are missing, because they change in nearly every commit. `program.test.ts` tests them in each
 * run.
 */
const inputs = [
  ...['release/**', 'deploy/Dockerfile', 'LICENSE', 'models/**', 'scripts/**', 'stubs/**'],
  ...['package.json', 'package-lock.json', 'tsconfig*.json', 'packages/*/{package,tsconfig}.json'],
  ...['packages/releases/**', 'packages/cli/bin/**', 'packages/cli/src/**/*upgrade*'],
  ...['packages/web/{*.ts,*.html}', 'packages/web/public/**'],
  ...['testing/{build-cache,free-port,programs}.ts'],
]
let key: string | undefined

type PackagingTest<T> = {
  /** Identifies the observation. */
  name: string
  /** Makes the observation, which takes minutes. */
  observe(): Promise<T>
  /** Fails if the observation, which has been converted to JSON and back, is wrong. */
  check(observed: T): void
}

/**
 * Declares a test of how shoal is packaged. It observes something of a release, and checks the observation. Each
 * observation is made again only if an input of packaging has changed. The check runs in each run.
 */
export function packagingTest<T>(title: string, { name, observe, check }: PackagingTest<T>): void {
  test(title, async () => {
    const folder = await mkdtemp(join(tmpdir(), 'shoal-observed-'))
    onTestFinished(() => rm(folder, { recursive: true }))
    key ??= hashFiles(root, inputs)
    const toFile = (place: string) => join(place, 'observed.json')
    await cachedBuild(
      {
        name: `release-${name}`,
        key,
        build: async (place) => writeFile(toFile(place), JSON.stringify(await observe())),
        check: async (place) => check(JSON.parse(await readFile(toFile(place), 'utf8'))),
      },
      join(folder, 'result'),
    )
  })
}
