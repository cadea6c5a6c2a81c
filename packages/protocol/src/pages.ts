/**
 * The paths of the registry's pages, shared by the router, the server-side renderer and all code that links to pages.
 */
export { formatPath } from './format-path.ts'

/** A parameter with `?` is optional. */
export const pages = {
  models: '/',
  model: '/m/:name',
  editModel: '/m/:name/edit',
  owner: '/u/:username',
  chat: '/chat',
  publish: '/publish',
  install: '/install',
  login: '/login',
  register: '/register',
  settings: '/settings/:section?',
  admin: '/admin/:section?',
} as const

/** Files that belong to pages. */
export const pageFiles = {
  feed: '/feed.atom',
  ownerFeed: '/u/:username/feed.atom',
  linkPreview: '/link-preview.png',
} as const
