/** The routes of the pages. The code of a screen, and of its loader, is loaded when it is first needed. */
import { pages } from '@shoal/protocol/pages'
import {
  createRootRouteWithContext,
  createRoute,
  createRouter,
  lazyRouteComponent,
  type RouterHistory,
} from '@tanstack/react-router'
import { readNextSearch } from './account/next-page.ts'
import { readAuditSearch } from './admin/audit-search.ts'
import { requireAdmin } from './admin/require-admin.ts'
import type { AppContext } from './api/context.ts'
import { meQuery, registryQuery, releasesQuery } from './api/queries.ts'
import { NotFound } from './app/not-found.tsx'
import { Shell } from './app/shell.tsx'
import { UnexpectedError } from './app/unexpected-error.tsx'
import { readModelSearch } from './model/model-search.ts'
import { readModelsSearch } from './models/models-search.ts'
import { routePath } from './route-path.ts'
import { formatSearch, parseSearch } from './search-parameters.ts'

const rootRoute = createRootRouteWithContext<AppContext>()({
  component: Shell,
  notFoundComponent: NotFound,
  errorComponent: UnexpectedError,
  loader: ({ context: { client, queryClient } }) => queryClient.prefetchQuery(meQuery(client)),
})

const modelsRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: routePath(pages.models),
  validateSearch: readModelsSearch,
  loaderDeps: ({ search }) => search,
  loader: async ({ context, deps }) => {
    const { loadModels } = await import('./models/models-screen.tsx')
    await loadModels(context, deps)
  },
  component: lazyRouteComponent(() => import('./models/models-screen.tsx'), 'ModelsScreen'),
})

const modelRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: routePath(pages.model),
  validateSearch: readModelSearch,
  loaderDeps: ({ search }) => search,
  loader: async ({ context, params, deps }) => {
    const { loadModelScreen } = await import('./model/load-model-screen.ts')
    await loadModelScreen(context, params.name, deps)
  },
  component: lazyRouteComponent(() => import('./model/model-screen.tsx'), 'ModelScreen'),
})

const editRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: routePath(pages.editModel),
  loader: async ({ context, params }) => {
    const { loadModelScreen } = await import('./model/load-model-screen.ts')
    await loadModelScreen(context, params.name, { tab: 'files' })
  },
  component: lazyRouteComponent(() => import('./model/edit-screen.tsx'), 'EditScreen'),
})

const ownerRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: routePath(pages.owner),
  validateSearch: readModelsSearch,
  loaderDeps: ({ search }) => search,
  loader: async ({ context, params, deps }) => {
    const { loadOwner } = await import('./owner/load-owner.ts')
    await loadOwner(context, params.username, deps)
  },
  component: lazyRouteComponent(() => import('./owner/owner-screen.tsx'), 'OwnerScreen'),
})

const chatRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: routePath(pages.chat),
  component: lazyRouteComponent(() => import('./open-chat/open-chat-screen.tsx'), 'OpenChatScreen'),
})

const publishRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: routePath(pages.publish),
  component: lazyRouteComponent(() => import('./publish/publish-screen.tsx'), 'PublishScreen'),
})

const installRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: routePath(pages.install),
  loader: ({ context: { client, queryClient } }) =>
    queryClient.prefetchQuery(releasesQuery(client)),
  component: lazyRouteComponent(() => import('./install/install-screen.tsx'), 'InstallScreen'),
})

const loadRegistry = ({ context: { client, queryClient } }: { context: AppContext }) =>
  queryClient.prefetchQuery(registryQuery(client))

const loginRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: routePath(pages.login),
  validateSearch: readNextSearch,
  loader: loadRegistry,
  component: lazyRouteComponent(() => import('./account/login-screen.tsx'), 'LoginScreen'),
})

const registerRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: routePath(pages.register),
  validateSearch: readNextSearch,
  loader: loadRegistry,
  component: lazyRouteComponent(() => import('./account/register-screen.tsx'), 'RegisterScreen'),
})

const settingsRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: routePath(pages.settings),
  component: lazyRouteComponent(() => import('./settings/settings-screen.tsx'), 'SettingsScreen'),
})

const adminRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: routePath(pages.admin),
  validateSearch: readAuditSearch,
  loader: ({ context }) => requireAdmin(context),
  notFoundComponent: NotFound,
  component: lazyRouteComponent(() => import('./admin/admin-screen.tsx'), 'AdminScreen'),
})

const routeTree = rootRoute.addChildren([
  modelsRoute,
  modelRoute,
  editRoute,
  ownerRoute,
  chatRoute,
  publishRoute,
  installRoute,
  loginRoute,
  registerRoute,
  settingsRoute,
  adminRoute,
])

export function newRouter(context: AppContext, history?: RouterHistory) {
  return createRouter({
    routeTree,
    context,
    ...(history && { history, isServer: true }),
    parseSearch,
    stringifySearch: formatSearch,
    defaultPreload: 'intent',
    scrollRestoration: history === undefined,
  })
}

declare module '@tanstack/react-router' {
  interface Register {
    router: ReturnType<typeof newRouter>
  }
}
