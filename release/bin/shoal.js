#!/usr/bin/env node
// The entry point of a release, in JavaScript that any version of Node can parse. A release contains compiled
// JavaScript, so it also runs on Node 22, unlike the sources (packages/cli/bin/shoal.js).
/* biome-ignore-all lint/style/useTemplate: old versions of Node must be able to parse this file. */
/* biome-ignore-all lint/style/useNodejsImportProtocol: Node before 14.18 does not support the node: prefix. */
var neededMajor = 22
var neededMinor = 13

var version = process.versions.node.split('.').map(Number)
if (version[0] < neededMajor || (version[0] === neededMajor && version[1] < neededMinor)) {
  process.stderr.write(
    'shoal needs Node ' +
      neededMajor +
      '.' +
      neededMinor +
      ' or newer; this is Node ' +
      process.versions.node +
      '.\n',
  )
  process.exit(1)
}
require('./start.js')
