/**
 * Finds programs for tests. The tests' PATH has only node, npm, git and Debian's essential programs, so that a test which
 * needs another program fails on every machine unless it asks for that program by name, here.
 */
import {
  accessSync,
  constants,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs'
import { delimiter, dirname, join } from 'node:path'

/** The PATH of the machine, while PATH is the tests' own. */
const systemPathVariable = 'SHOAL_TEST_SYSTEM_PATH'
/** The folder of system programs, which may be missing from an ordinary user's PATH. */
const systemFolder = '/usr/sbin'

/** Programs that some tests need. Those that are not installed are listed at the start of a run. */
export const optionalPrograms = [
  ...['curl', 'debootstrap', 'docker-compose', 'buildah', 'e2fsck', 'g++', 'haproxy'],
  ...['ip', 'mkfs.ext4', 'mount', 'nginx', 'openssl', 'pgbouncer', 'systemd-analyze', 'tc'],
  ...['tinyproxy', 'umount', 'wget'],
] as const

/**
 * The programs of the packages that are part of every Debian system (`Essential: yes`), except those that only an
 * administrator or a package's maintainer script runs.
 */
const essentialPrograms = `
  sh bash dash
  [ arch b2sum base32 base64 basename basenc cat chcon chgrp chmod chown chroot cksum comm cp csplit cut date dd df dir
  dircolors dirname du echo env expand expr factor false fmt fold groups head hostid id install join link ln logname ls
  md5sum mkdir mkfifo mknod mktemp mv nice nl nohup nproc numfmt od paste pathchk pinky pr printenv printf ptx pwd
  readlink realpath rm rmdir runcon seq sha1sum sha224sum sha256sum sha384sum sha512sum shred shuf sleep sort split stat
  stdbuf stty sum sync tac tail tee test timeout touch tr true truncate tsort tty uname unexpand uniq unlink users vdir
  wc who whoami yes
  cmp diff diff3 sdiff dpkg dpkg-deb dpkg-divert dpkg-query dpkg-split run-parts savelog tempfile which
  awk find xargs egrep fgrep grep gunzip gzip zcat hostname getconf getent iconv ldconfig ldd locale localedef perl pidof sed
  tar clear infocmp reset tabs tic tput tset
  chrt dmesg fallocate findmnt flock getopt ionice ipcmk ipcrm ipcs lsblk lscpu lslocks mcookie mountpoint namei nsenter
  prlimit rename.ul rev script setarch setpriv setsid taskset unshare whereis
`
const suppliedPrograms = ['npm', 'npx', 'git', ...essentialPrograms.trim().split(/\s+/)]

/** A program with which the registry's install script can download; undefined if none is installed. */
export const findDownloader = () => ['curl', 'wget'].find(findProgram)

/**
 * A browser for tests; undefined if none is installed. The headless shell renders pages as Chromium does, but has no
 * window, which saves a third of the processor time.
 */
export const findChromium = () => findProgram('chromium-headless-shell') ?? findProgram('chromium')

/** Returns the path of a program of this machine; undefined if it is not installed. */
export function findProgram(name: string): string | undefined {
  const folders = [...systemPath().split(delimiter), systemFolder]
  return folders.map((folder) => join(folder, name)).find(isExecutable)
}

/** Returns the path of a program that the caller has found to be installed. Throws if it is not. */
export function needProgram(name: string): string {
  const path = findProgram(name)
  if (path === undefined) throw new Error(`not installed: ${name}`)
  return path
}

export function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

/** The PATH of the machine, for programs such as debootstrap that run many others. */
export const systemPath = () => process.env[systemPathVariable] ?? process.env.PATH ?? ''

/** Returns the tests' PATH with these programs added. Throws if one of them is not installed. */
export function pathWith(...names: string[]): string {
  const [ours = ''] = (process.env.PATH ?? '').split(delimiter)
  const folder = join(dirname(ours), ['with', ...names].join('-'))
  makeLinks(folder, new Map(names.map((name) => [name, needProgram(name)])))
  return [process.env.PATH, folder].join(delimiter)
}

/**
 * Replaces PATH by a folder of links to the programs that every machine has. It is made in `parent`, and processes that
 * this process starts inherit it.
 */
export function limitPath(parent: string) {
  process.env[systemPathVariable] ??= process.env.PATH ?? ''
  const links = new Map([['node', process.execPath]])
  for (const name of suppliedPrograms) {
    const path = findProgram(name)
    if (path !== undefined) links.set(name, path)
  }
  const folder = join(parent, 'programs')
  makeLinks(folder, links)
  process.env.PATH = folder
}

/** Makes a folder contain exactly these links. Other processes may be using the folder, or doing the same. */
function makeLinks(folder: string, links: ReadonlyMap<string, string>) {
  mkdirSync(folder, { recursive: true })
  for (const [name, path] of links) {
    const temporary = join(folder, `.${process.pid}-${name}`)
    symlinkSync(path, temporary)
    renameSync(temporary, join(folder, name))
  }
  for (const name of readdirSync(folder)) {
    if (!links.has(name) && !name.startsWith('.')) rmSync(join(folder, name), { force: true })
  }
}
