import { pages } from '@shoal/protocol/pages'
import { expect, test } from 'vitest'
import type { AppContext } from './api/context.ts'
import { routePath } from './route-path.ts'
import { newRouter } from './router.tsx'

test('the router has every page of the list, and no other', () => {
  const { routesByPath } = newRouter({} as AppContext)
  expect(Object.keys(routesByPath).toSorted()).toEqual(
    Object.values(pages).map(routePath).toSorted(),
  )
})

test('parameters are written as the router writes them', () => {
  expect(routePath('/m/:name/edit')).toBe('/m/$name/edit')
  expect(routePath('/a/:b/c/:d?')).toBe('/a/$b/c/{-$d}')
})
