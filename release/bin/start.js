// Started by shoal.js on a recent Node. This is a separate file, because old Nodes cannot parse import().
var nodeModule = require('node:module')
var os = require('node:os')
var path = require('node:path')
var v8 = require('node:v8')
require('./disposable-stack.js')

// Caches compiled code between runs, which halves the time until the first line of output. The folder of the program
// may belong to root, so the cache is in the user's own folder. Threads and child processes use the cache only if the
// variable is set; each of them then takes less memory. NODE_COMPILE_CACHE, if set, takes precedence.
var cacheHome = process.env.XDG_CACHE_HOME || path.join(os.homedir(), '.cache')
process.env.NODE_COMPILE_CACHE ||= path.join(cacheHome, 'shoal', 'compiled')
nodeModule.enableCompileCache(process.env.NODE_COMPILE_CACHE)

// Most objects of a request are garbage when it has been answered. A larger young generation would take 20 MB more
// without benefit.
if (process.argv[2] === 'serve') v8.setFlagsFromString('--semi-space-growth-factor=1')

// Hides only Node's warnings about experimental features, which the user did not choose to use.
var emitWarning = process.emitWarning
process.emitWarning = (warning, options, ...rest) => {
  var type = options !== null && typeof options === 'object' ? options.type : options
  if (type !== 'ExperimentalWarning') emitWarning.call(process, warning, options, ...rest)
}

import('../src/main.js')
