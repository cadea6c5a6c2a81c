import { loadavg } from 'node:os'
import { join } from 'node:path'
import { freePort } from '../testing/free-port.ts'
import { type Bench, isWanted } from './harness/bench.ts'
import { digits, median } from './harness/numbers.ts'
import { note } from './harness/report.ts'
import { inTurns } from './harness/rounds.ts'
import { temporaryFolder } from './harness/temporary-folder.ts'
import { needTools } from './harness/tool.ts'
import { runLine, startLine } from './harness/typed-line.ts'

const goalSeconds = 60
const root = join(import.meta.dirname, '..')
const upIsReady = 'Press Ctrl-C to stop'
const ask = 'shoal run shoal-tiny "Hello"'

/** The duration of each command in seconds, in the order in which the commands are typed. */
type Times = Record<string, number>

export const bench: Bench = {
  summary:
    'time and commands until the demo model answers, starting from a clone, /install or the .deb',

  async run(options, report) {
    needTools('git', 'npm', 'tar', 'curl', 'sha256sum', 'dpkg-deb')
    using folder = temporaryFolder()
    const release = join(folder.path, 'release')
    const ways: Record<string, () => Promise<Times>> = {
      clone: fromClone,
      install: () => fromRegistry(release),
      deb: () => fromDebianPackage(release),
    }
    const wanted = Object.entries(ways).filter(([name]) => isWanted(options, name))
    if (wanted.some(([name]) => name !== 'clone')) await makeRelease(folder.path, release)
    report.title(`first-value: goal ≤ ${goalSeconds} s for each`)
    const load = () => digits(loadavg()[0] ?? 0)
    const before = load()
    const rounds = await inTurns(options.rounds, Object.fromEntries(wanted))
    report.table(
      ['from', 'commands', 'seconds', 'slowest'],
      Object.entries(rounds).map(([name, times]) => {
        const totals = times.map((one) =>
          Object.values(one).reduce((sum, seconds) => sum + seconds),
        )
        const commands = Object.keys(times[0] ?? {}).length
        return [name, commands, digits(median(totals)), digits(Math.max(...totals))]
      }),
    )
    report.table(
      ['from', 'command', 'seconds'],
      Object.entries(rounds).flatMap(([name, times]) =>
        Object.keys(times[0] ?? {}).map((command) => [
          name,
          `\`${command}\``,
          digits(median(times.map((one) => one[command] ?? Number.NaN))),
        ]),
      ),
    )
    report.say(`Load average before and after: ${before} and ${load()}.`)
  },
}

/** Builds a release. The build is not measured, because users download a release that someone else has made. */
async function makeRelease(folder: string, into: string) {
  note('making a release')
  await runLine(`"${process.execPath}" "${root}/release/run.ts" --into "${into}"`, {
    folder,
    env: { XDG_CONFIG_HOME: join(folder, 'config') }, // the signing key
  })
}

/** Clones the local repository. npm downloads only the packages that are not in its cache. */
async function fromClone(): Promise<Times> {
  using place = temporaryFolder()
  const { port, env } = await makeSettings(place.path)
  const clone = await runLine(`git clone --quiet "${root}" shoal`, { folder: place.path, env })
  const at = { folder: join(place.path, 'shoal'), env }
  const install = await runLine('npm ci', at)
  const start = `npm start -- --port ${port} --inference-port ${await freePort()}`
  await using up = startLine(start, at)
  return {
    'git clone <address>': clone,
    'cd shoal && npm ci': install,
    'npm start': await up.untilPrinted(upIsReady),
    [`./${ask}`]: await runLine(`./${ask}`, at),
  }
}

/** Installs shoal from a registry that has the demo models. The user needs only curl and tar. */
async function fromRegistry(release: string): Promise<Times> {
  using place = temporaryFolder()
  using host = temporaryFolder()
  const { port, env } = await makeSettings(host.path)
  const at = { folder: host.path, env: { ...env, HOME: host.path } }
  await runLine(`tar -xzf "${release}"/shoal-*-*.tar.gz`, at)
  await using up = startLine(`shoal-*/bin/shoal up --no-inference --port ${port}`, at)
  await up.untilPrinted(upIsReady)
  const address = `${env.SHOAL_REGISTRY}/install`
  const isPacked = `until curl -fs ${address} | grep -q shoal_install; do sleep 0.2; done`
  await runLine(`timeout 600 sh -c '${isPacked}'`, at)

  const user = { folder: place.path, env: { HOME: place.path } }
  const run = (line: string) => runLine(line, user)
  return {
    'curl -fsSo shoal-install.sh <address>/install': await run(
      `curl -fsSo shoal-install.sh ${address}`,
    ),
    'sha256sum shoal-install.sh': await run('sha256sum shoal-install.sh'),
    'sh shoal-install.sh': await run('sh shoal-install.sh'),
    [ask]: await run(`.local/bin/${ask}`),
  }
}

/**
 * Unpacks the package instead of installing it, because installing it would require root privileges or a separate
 * system.
 */
async function fromDebianPackage(release: string): Promise<Times> {
  using place = temporaryFolder()
  const { port, env } = await makeSettings(place.path)
  const at = { folder: place.path, env: { ...env, HOME: place.path } }
  const install = await runLine(`dpkg-deb -x "${release}"/shoal_*.deb root`, at)
  const start = `root/usr/bin/shoal up --port ${port} --inference-port ${await freePort()}`
  await using up = startLine(start, at)
  return {
    'apt install ./shoal_<version>_<arch>.deb': install,
    'shoal up': await up.untilPrinted(upIsReady),
    [ask]: await runLine(`root/usr/bin/${ask}`, at),
  }
}

async function makeSettings(folder: string) {
  const port = await freePort()
  const env = { SHOAL_REGISTRY: `http://localhost:${port}`, SHOAL_HOME: join(folder, 'home') }
  return { port, env }
}
