/** The addresses of the registry's pages, once: for its router, the server that renders them, and those who link to them. */
export { formatPath } from './format-path.ts'

/** A parameter with `?` may be left out. */
export const pages = {
  models: '/',
  model: '/m/:name',
  editModel: '/m/:name/edit',
  owner: '/u/:username',
  chat: '/chat',
  publish: '/publish',
  login: '/login',
  register: '/register',
  settings: '/settings/:section?',
} as const

/** What belongs to a page, and is no page itself. */
export const pageFiles = {
  feed: '/feed.atom',
  ownerFeed: '/u/:username/feed.atom',
  modelPicture: '/m/:name/school.png',
} as const
