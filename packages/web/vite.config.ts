import tailwindcss from '@tailwindcss/vite'
import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'
import { compressed } from './compressed.ts'
import about from './package.json' with { type: 'json' }

/**
 * Modules that every screen of the registry needs, but the chat page does not. One chunk is smaller than four separate
 * ones. Infinite queries are excluded, because only the administration page uses them.
 */
const queries = {
  name: 'queries',
  test: /tanstack\/(react-query|query-core)(?!.*\/(useInfiniteQuery|infiniteQueryO))|web\/src\/api\//,
}

/**
 * Small modules that nearly every screen needs. In separate chunks, they would need separate requests and compress less
 * well.
 */
const units = { name: 'units', test: /core\/src\/units/ }

/**
 * Builds two pages: the registry's page, and the chat page that the daemon serves. Files shared by both pages are in
 * `assets`.
 */
export default defineConfig(({ isSsrBuild }) => ({
  define: { __VERSION__: JSON.stringify(about.version) },
  plugins: [react(), tailwindcss(), ...(isSsrBuild ? [] : [compressed()])],
  build: {
    outDir: 'dist/client',
    emptyOutDir: true,
    copyPublicDir: !isSsrBuild,
    assetsInlineLimit: 0, // the pages' content security policy does not allow data: URLs
    modulePreload: { polyfill: false },
    rolldownOptions: isSsrBuild
      ? {}
      : {
          input: ['index.html', 'chat.html'],
          output: {
            codeSplitting: { groups: [queries, units], includeDependenciesRecursively: false },
          },
        },
  },
  ssr: { noExternal: true },
}))
