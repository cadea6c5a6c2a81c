import { pages } from '@shoal/protocol/pages'
import { expect, test } from 'vitest'
import type { AppContext } from './api/context.ts'
import { routePath } from './route-path.ts'
import { newRouter } from './router.tsx'

test('the router has a route for each page, and no others', () => {
  const { routesByPath } = newRouter({} as AppContext)
  expect(Object.keys(routesByPath).toSorted()).toEqual(
    Object.values(pages).map(routePath).toSorted(),
  )
})

test('path parameters are converted to the syntax of the router', () => {
  expect(routePath('/m/:name/edit')).toBe('/m/$name/edit')
  expect(routePath('/a/:b/c/:d?')).toBe('/a/$b/c/{-$d}')
})
