// Builds the web pages after npm ci, if Vite is installed. Also runs on old Node.js versions.
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
  console.log('Skipped building the web pages: the development dependencies are not installed.')
}
