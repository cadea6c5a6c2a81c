/** Tests the service without a service manager, and with a fake systemctl that records its calls. */
import { execFile } from 'node:child_process'
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { findProgram } from '../../../../testing/programs.ts'
import { writeDaemonState } from '../daemon/state-file.ts'
import { openServiceManager } from '../service/service-manager.ts'
import { readUnitVariable, systemdUnit } from '../service/systemd-unit.ts'
import { readPlaces } from '../settings/places.ts'
import { makeHome } from '../testing/run-shoal.ts'
import { scriptedDaemon } from '../testing/scripted-daemon.ts'
import { shoalHere } from '../testing/shoal-here.ts'

const systemdAnalyze = findProgram('systemd-analyze')
const onLinux = test.runIf(process.platform === 'linux')

async function scene() {
  const home = await makeHome()
  const bin = join(home.path, 'bin')
  await mkdir(bin)
  const file = join(home.path, 'settings', 'systemd', 'user', 'shoal.service')
  const variables = { HOME: home.path, XDG_CONFIG_HOME: join(home.path, 'settings'), PATH: bin }
  return {
    file,
    path: home.path,
    service: (words: string[], env: Record<string, string> = {}) =>
      shoalHere(['service', ...words], { home: home.path, env: { ...variables, ...env } }),
    /** Adds a fake systemctl to the `PATH`. `is-active` succeeds if the service has been started. */
    async addManager() {
      const calls = join(home.path, 'calls')
      const script = `#!/bin/sh
echo "$*" >>'${calls}'
case $2 in
  restart) : >'${calls}.running' ;;
  is-active) [ -e '${calls}.running' ] ;;
esac
`
      await writeFile(join(bin, 'systemctl'), script)
      await chmod(join(bin, 'systemctl'), 0o755)
      return async () => {
        const all = (await readFile(calls, 'utf8')).trim().split('\n')
        await writeFile(calls, '')
        return all.filter((call) => !/show|is-active|is-enabled/.test(call))
      }
    },
    [Symbol.asyncDispose]: () => home[Symbol.asyncDispose](),
  }
}

onLinux('without a service manager, install writes the unit and says how to start it', async () => {
  await using at = await scene()
  const token = join(at.path, 'token')
  await writeFile(token, 'a-secret-token')
  const env = { SHOAL_API_KEY: 'a-secret-key', SHOAL_TOKEN_FILE: token, SHOAL_THREADS: '2' }
  const installed = await at.service(['install', '--port', '11500', '--models', 'my models'], env)
  expect(installed).toMatchObject({ exitCode: 0, stdout: `${at.file}\n` })
  expect(installed.stderr).toContain('systemctl --user enable --now shoal.service')
  expect(installed.stderr).toContain('loginctl enable-linger')
  expect(installed.stderr).toContain('SHOAL_API_KEY is a secret')
  const unit = await readFile(at.file, 'utf8')
  expect(unit).toContain(`"serve" "--port=11500" "--models=${process.cwd()}/my models"`)
  expect(unit).toContain(`Environment="SHOAL_HOME=${at.path}"\n`)
  expect(unit).toContain('Environment="SHOAL_THREADS=2"\n')
  expect(unit).toContain(`Environment="SHOAL_TOKEN_FILE=${token}"\n`)
  expect(unit).not.toContain('secret-')
  expect(unit).not.toContain('a-secret')
  const status = await at.service(['status', '--json'])
  expect(JSON.parse(status.stdout)).toEqual({
    ...{ file: at.file, installed: true, enabled: null, running: null, daemon: null },
  })
  await using daemon = await scriptedDaemon()
  await writeDaemonState(readPlaces({ SHOAL_HOME: at.path }), {
    ...{ pid: process.pid, url: daemon.url, port: daemon.port, command: 'serve' },
    ...{ started_at: new Date().toISOString(), log_file: null },
  })
  const elsewhere = await at.service(['status', '--json'], { SHOAL_HOME: join(at.path, 'other') })
  expect(JSON.parse(elsewhere.stdout).daemon).toEqual({ url: daemon.url, pid: process.pid })
  expect((await at.service(['uninstall'])).stderr).toContain(`Removed ${at.file}.`)
  expect((await at.service(['uninstall'])).stderr).toBe('The service is not installed.\n')
})

onLinux('install starts the service once, and asks before it replaces another unit', async () => {
  await using at = await scene()
  const takeCalls = await at.addManager()
  expect((await at.service(['install'])).exitCode).toBe(0)
  const started = ['daemon-reload', 'enable shoal.service', 'restart shoal.service']
  expect(await takeCalls()).toEqual(started.map((call) => `--user ${call}`))
  expect((await at.service(['install'])).stderr).toContain('Unchanged')
  expect(await takeCalls()).toEqual([])
  const status = await at.service(['status', '--json'])
  expect(JSON.parse(status.stdout)).toMatchObject({ enabled: true, running: true })

  expect((await at.service(['install', '--port', '11500'])).stderr).toContain('Replace')
  expect(await readFile(at.file, 'utf8')).not.toContain('11500')
  expect((await at.service(['install', '--port', '11500', '--yes'])).exitCode).toBe(0)
  expect(await readFile(at.file, 'utf8')).toContain('11500')
  await takeCalls()
  expect((await at.service(['uninstall'])).exitCode).toBe(0)
  expect(await takeCalls()).toEqual(['--user disable --now shoal.service', '--user daemon-reload'])
})

onLinux('a unit that shoal has not written is neither replaced nor removed', async () => {
  await using at = await scene()
  await mkdir(dirname(at.file), { recursive: true })
  await writeFile(at.file, '[Service]\nExecStart=/bin/true\n')
  for (const words of [['install', '--yes'], ['uninstall']]) {
    expect((await at.service(words)).stderr).toContain('was not written by shoal')
  }
  expect(await readFile(at.file, 'utf8')).toContain('/bin/true')
})

test('wrong options are refused before anything is written', async () => {
  await using at = await scene()
  expect((await at.service(['install', '--port', 'many'])).exitCode).toBe(2)
  expect((await at.service(['install', '--detach'])).exitCode).toBe(2)
  expect((await at.service(['install'], { XDG_DATA_HOME: 'a\nb' })).exitCode).toBe(2)
  await expect(readFile(at.file)).rejects.toThrow('ENOENT')
})

test('the values of variables are read from the unit as they were written', () => {
  const home = '/a 100% %%h $HOME "b" \\\\n'
  const unit = systemdUnit({ words: ['/shoal'], env: { SHOAL_HOME: home } })
  expect(readUnitVariable(unit, 'SHOAL_HOME')).toBe(home)
  expect(readUnitVariable(unit, 'HOME')).toBeUndefined()
})

test.runIf(systemdAnalyze)(
  'systemd accepts the unit, whatever characters the paths contain',
  async () => {
    await using home = await makeHome()
    const program = join(home.path, 'a 100% $HOME folder', 'shoal')
    await mkdir(dirname(program), { recursive: true })
    await writeFile(program, '#!/bin/sh\n')
    await chmod(program, 0o755)
    const unit = join(home.path, 'shoal.service')
    const words = [program, 'serve', '--models=/a 100% $HOME "b" \\n']
    await writeFile(unit, systemdUnit({ words, env: { SHOAL_HOME: '/a 100% $HOME "b" \\n' } }))
    const env = { ...process.env, HOME: home.path, XDG_RUNTIME_DIR: home.path }
    const verified = await promisify(execFile)(systemdAnalyze ?? '', ['verify', '--user', unit], {
      env,
    })
    expect(verified.stderr).toBe('')
    expect(() => systemdUnit({ words: ['/a "b"/shoal'], env: {} })).toThrow('contains quotes')
  },
)

test('values in the launch agent of macOS are escaped, and Windows is not supported', () => {
  const agent = openServiceManager({ HOME: '/Users/a & b' }, 'darwin').write({
    words: ['/a & b/shoal', 'serve'],
    env: { SHOAL_HOME: '/<home>' },
  })
  expect(agent).toContain('<string>/Users/a &amp; b/Library/Logs/shoal-service.log</string>')
  expect(agent).toContain('<string>/a &amp; b/shoal</string>\n    <string>serve</string>')
  expect(agent).toContain('<key>SHOAL_HOME</key>\n    <string>/&lt;home&gt;</string>')
  const { readVariable } = openServiceManager({}, 'darwin')
  expect(readVariable(agent, 'SHOAL_HOME')).toBe('/<home>')
  expect(readVariable(agent, 'SHOAL_PORT')).toBeUndefined()
  expect(openServiceManager({ HOME: '/Users/ines' }, 'darwin').file).toMatch(
    /^.Users.ines.Library.LaunchAgents.shoal\.daemon\.plist$/,
  )
  expect(() => openServiceManager({}, 'win32')).toThrow('Linux and macOS only')
})
