throw new Error('it does not load')
