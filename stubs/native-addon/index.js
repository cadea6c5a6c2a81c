// As if it were not installed. An empty module would be taken for the addon and called.
throw Object.assign(new Error('this native addon is left out'), { code: 'MODULE_NOT_FOUND' })
