// Fails like an addon that is not installed. An empty module would be mistaken for the addon, and its functions called.
throw Object.assign(new Error('this native addon is left out'), { code: 'MODULE_NOT_FOUND' })
