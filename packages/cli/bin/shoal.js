#!/usr/bin/env node
// The entry point of the command line, in JavaScript that any Node since version 6 can parse. Node 24 and newer, which
// run TypeScript, continue in this process. An older Node starts the project's own Node 24, or prints which version is
// needed.
/* biome-ignore-all lint/style/useNodejsImportProtocol: Node before 14.18 does not support the node: prefix. */
/* biome-ignore-all lint/complexity/useArrowFunction: old versions of Node must be able to parse this file. */
/* biome-ignore-all lint/style/useTemplate: old versions of Node must be able to parse this file. */
var fs = require('fs')
var path = require('path')

var neededMajor = 24

if (Number(process.versions.node.split('.')[0]) >= neededMajor) require('./start.js')
else handOver(findPinnedNode(__dirname))

function findPinnedNode(directory) {
  var name = process.platform === 'win32' ? 'node.exe' : 'node'
  var candidate = path.join(directory, 'node_modules', 'node', 'bin', name)
  if (fs.existsSync(candidate)) return candidate
  var parent = path.dirname(directory)
  return parent === directory ? undefined : findPinnedNode(parent)
}

function handOver(node) {
  if (node === undefined) {
    process.stderr.write(
      'shoal needs Node ' +
        neededMajor +
        ' or newer; this is Node ' +
        process.versions.node +
        '.\n',
    )
    process.exit(1)
  }
  var child = require('child_process').spawn(node, [__filename].concat(process.argv.slice(2)), {
    stdio: 'inherit',
  })
  // A terminal also sends Ctrl-C to the child. Signals sent only to this process are forwarded.
  var hasTerminal = process.stdin.isTTY || process.stdout.isTTY || process.stderr.isTTY
  process.on('SIGINT', function () {
    if (!hasTerminal) child.kill('SIGINT')
  })
  process.on('SIGTERM', function () {
    child.kill('SIGTERM')
  })
  process.on('SIGHUP', function () {
    child.kill('SIGHUP')
  })
  child.on('error', function (error) {
    process.stderr.write('shoal could not start ' + node + ': ' + error.message + '\n')
    process.exit(1)
  })
  child.on('exit', function (code, signal) {
    if (signal === null) process.exit(code)
    process.removeAllListeners(signal)
    process.kill(process.pid, signal)
  })
}
