import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { freePort } from '../../testing/free-port.ts'
import { needTool } from './tool.ts'
import { untilAnswered } from './until-answered.ts'

/** Starts nginx with one worker. It serves one file with `sendfile`, as in Debian's default configuration. */
export async function startNginx(file: string, folder: string) {
  const port = await freePort()
  mkdirSync(folder)
  const config = join(folder, 'nginx.conf')
  writeFileSync(
    config,
    `daemon off; worker_processes 1; pid ${folder}/pid; error_log ${folder}/error.log;
    events { worker_connections 256; }
    http {
      access_log off; sendfile on; tcp_nopush on;
      client_body_temp_path ${folder}/body; proxy_temp_path ${folder}/proxy;
      fastcgi_temp_path ${folder}/fastcgi; uwsgi_temp_path ${folder}/uwsgi; scgi_temp_path ${folder}/scgi;
      server { listen 127.0.0.1:${port}; root ${dirname(file)}; }
    }`,
  )
  const isRoot = process.getuid?.() === 0
  const user = isRoot ? ['-g', 'user root;'] : []
  const child = spawn(needTool('nginx'), ['-p', folder, '-c', config, ...user], {
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const endWithUs = () => child.kill('SIGTERM')
  process.once('exit', endWithUs)
  const exited = once(child, 'exit')
  const url = `http://127.0.0.1:${port}/${basename(file)}`
  await untilAnswered(url)
  const children = readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8')
  return {
    url,
    workerPid: Number(children.trim().split(' ')[0]),
    async [Symbol.asyncDispose]() {
      process.off('exit', endWithUs)
      child.kill('SIGTERM')
      await exited
    },
  }
}
