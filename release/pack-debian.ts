/** Packs the portable program as a Debian package. */
import { execFile } from 'node:child_process'
import { chmod, copyFile, mkdir, readdir, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

type Options = {
  /** The repository. */
  root: string
  /** The folder that `assemblePortable` has written. */
  portable: string
  /** An empty folder. */
  workspace: string
  /** The path of the package. */
  into: string
  version: string
  timeSeconds: number
  /** gzip's compression level, 0 to 9. */
  level: number
}

const architectures: Partial<Record<NodeJS.Architecture, string>> = { x64: 'amd64', arm64: 'arm64' }

/** Debian's name for this machine's processor. Undefined if there are no releases for it. */
export const debianArchitecture = architectures[process.arch]

/** Requires `dpkg-deb`. The package depends on libc, and on Debian's `passwd`, which creates the service's user. */
export async function packDebian(options: Options): Promise<void> {
  const { root, portable, workspace, into, version, timeSeconds, level } = options
  const source = join(root, 'release', 'debian')
  const folders = {
    program: join(workspace, 'usr', 'lib', 'shoal'),
    commands: join(workspace, 'usr', 'bin'),
    units: join(workspace, 'usr', 'lib', 'systemd', 'system'),
    documents: join(workspace, 'usr', 'share', 'doc', 'shoal'),
    settings: join(workspace, 'etc', 'shoal'),
    control: join(workspace, 'DEBIAN'),
  }
  for (const folder of Object.values(folders)) await mkdir(folder, { recursive: true })
  await linkFolder(portable, folders.program)
  await symlink('../lib/shoal/bin/shoal', join(folders.commands, 'shoal'))
  await copyFile(join(source, 'shoal.service'), join(folders.units, 'shoal.service'))
  const settings = join(folders.settings, 'registry.env')
  await copyFile(join(source, 'registry.env'), settings)
  await chmod(settings, 0o600) // may contain secrets; systemd reads it as root
  await copyFile(join(root, 'LICENSE'), join(folders.documents, 'copyright'))
  for (const name of ['postinst', 'prerm', 'postrm']) {
    await copyFile(join(source, name), join(folders.control, name))
    await chmod(join(folders.control, name), 0o755)
  }
  await writeFile(join(folders.control, 'conffiles'), '/etc/shoal/registry.env\n')
  await writeFile(join(folders.control, 'control'), await describe(portable, version))
  const words = ['--root-owner-group', '-Zgzip', `-z${level}`, '--build', workspace, into]
  await promisify(execFile)('dpkg-deb', words, {
    env: { ...process.env, SOURCE_DATE_EPOCH: String(timeSeconds) },
  })
}

async function describe(portable: string, version: string): Promise<string> {
  const fields = {
    Package: 'shoal',
    Version: version,
    Architecture: debianArchitecture,
    Maintainer: 'The shoal authors <shoal@localhost>',
    'Installed-Size': Math.ceil((await measureBytes(portable)) / 1024),
    Depends: 'libc6 (>= 2.28), passwd',
    Section: 'net',
    Priority: 'optional',
    Description: 'registry for language models, command line and local inference server',
  }
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\n`)
  return lines.join('')
}

/** Links the files instead of copying them, because the program takes up 250 MB. */
async function linkFolder(from: string, into: string): Promise<void> {
  await promisify(execFile)('cp', ['--recursive', '--link', '--no-target-directory', from, into])
  await normalizeModes(into)
}

/** Gives folders and files the same permissions as in the archives, regardless of the umask. */
async function normalizeModes(folder: string): Promise<void> {
  await promisify(execFile)('chmod', ['--recursive', 'u=rwX,go=rX', folder])
}

async function measureBytes(folder: string): Promise<number> {
  let bytes = 0
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (entry.isFile()) bytes += (await stat(join(entry.parentPath, entry.name))).size
  }
  return bytes
}
