// Runs after npm ci, also on old Nodes: makes the web pages, where what makes them is installed.
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'

const root = new URL('..', import.meta.url)

if (existsSync(new URL('node_modules/vite/package.json', root))) {
  const { status } = spawnSync('npm', ['run', 'build', '--workspace', 'packages/web'], {
    cwd: root,
    stdio: 'inherit',
    shell: process.platform === 'win32',
  })
  process.exitCode = status ?? 1
} else {
  console.log('Without the development dependencies the web pages are not made.')
}
