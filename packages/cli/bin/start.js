// What shoal.js goes on with on a new enough Node: a file of its own, because old Nodes cannot read import().
var nodeModule = require('node:module')
var path = require('node:path')

// Compiled code is kept from run to run: it halves the time to the first line.
nodeModule.enableCompileCache(path.join(__dirname, '..', 'node_modules', '.cache'))

// Of Node's warnings only these are hidden: they speak of Node's own features, which the user did not choose.
var emitWarning = process.emitWarning
process.emitWarning = (warning, options, ...rest) => {
  var type = typeof options === 'object' ? options.type : options
  if (type !== 'ExperimentalWarning') emitWarning.call(process, warning, options, ...rest)
}

import('../src/main.ts')
