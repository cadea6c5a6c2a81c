// Started by shoal.js on a recent Node. This is a separate file, because old versions of Node cannot parse import().
var nodeModule = require('node:module')
var path = require('node:path')
var v8 = require('node:v8')

// Caches compiled code between runs, which halves the time until the first line of output. Threads and child processes
// use the cache only if the variable is set; each of them then uses 10 MB less
// memory. NODE_COMPILE_CACHE, if set, takes precedence.
process.env.NODE_COMPILE_CACHE ||= path.join(__dirname, '..', 'node_modules', '.cache')
nodeModule.enableCompileCache(process.env.NODE_COMPILE_CACHE)

// Most objects of a request are garbage when it has been answered. A larger young generation would take 20 MB more
// without benefit.
if (process.argv[2] === 'serve') v8.setFlagsFromString('--semi-space-growth-factor=1')

// Hides only Node's warnings about experimental features, which the user did not choose to use.
var emitWarning = process.emitWarning
process.emitWarning = (warning, options, ...rest) => {
  var type = typeof options === 'object' ? options.type : options
  if (type !== 'ExperimentalWarning') emitWarning.call(process, warning, options, ...rest)
}

import('../src/main.ts')
