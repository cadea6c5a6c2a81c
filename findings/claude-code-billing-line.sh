#!/bin/sh
# Claude Code 2.1.332 begins the system prompt with a line for Anthropic's billing, whatever server it talks to. The line
# depends on the user's first message, so no prompt cache that compares prompts from their beginning finds the
# instructions and tools that follow when a new session starts. CLAUDE_CODE_ATTRIBUTION_HEADER=0 leaves it out.
#
# Output:
#   x-anthropic-billing-header: cc_version=2.1.332.…; cc_entrypoint=sdk-cli;
#   x-anthropic-billing-header: cc_version=2.1.332.…; cc_entrypoint=sdk-cli;
#   You are a Claude agent, built on Anthropic's Claude Agent SDK.
#   different lines: 3
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --no-audit --no-fund --loglevel error @anthropic-ai/claude-code@2.1.332 >/dev/null

cat >run.mjs <<'JS'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'

const lines = []
const server = createServer(async (request, response) => {
  let body = ''
  for await (const part of request) body += part
  if (request.url.startsWith('/v1/messages')) lines.push(JSON.parse(body).system[0].text)
  response.writeHead(400).end('{"type":"error","error":{"type":"invalid_request_error","message":"no"}}')
}).listen(0, '127.0.0.1')
await once(server, 'listening')

async function ask(text, others = {}) {
  const env = {
    PATH: process.env.PATH,
    HOME: process.cwd(),
    ANTHROPIC_BASE_URL: `http://127.0.0.1:${server.address().port}`,
    ANTHROPIC_AUTH_TOKEN: 'any',
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    ...others,
  }
  const count = lines.length
  await once(spawn('node_modules/.bin/claude', ['-p', text], { env, stdio: 'ignore' }), 'close')
  console.log(lines[count])
}
await ask('Count the ships.')
await ask('Say hello.')
await ask('Say hello.', { CLAUDE_CODE_ATTRIBUTION_HEADER: '0' })
console.log('different lines:', new Set(lines).size)
server.close()
JS
node run.mjs >output
cat output
tail -n 1 output | grep -qx 'different lines: 3'
