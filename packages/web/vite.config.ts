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
 * The router, which every screen of the registry needs. Without this group, it would be divided among several chunks,
 * because some screens use more of it than others. The group includes the modules that the router imports. Otherwise,
 * their chunk could import the entry point. The entry point waits for the router to load the screen, so both would wait
 * forever.
 */
const router = {
  name: 'router',
  test: /tanstack\/(react-router|router-core|history|react-store|store)|use-sync-external-store|app\/screen-title/,
}

/**
 * Small modules that nearly every screen needs. In separate chunks, they would need separate requests and compress less
 * well.
 */
const small = {
  name: 'small',
  test: /core\/src\/(units|async\/(sleep|until-aborted)|errors\/(app-error|describe-page)|references\/(reference|commands))|model-file\/src\/(gguf\/quantization|shards)|protocol\/src\/(pages|format-path|client\/(connection|api-error|call\.|transport|network-error|(model|file|account)-calls)|routes\/(models|files|accounts))|web\/src\/((use-)?observable|prefs|account\/next-page|app\/(use-prefs|head\.)|ui\/(exactly|disclosure|name|problem|explain|sentence|sign-in-link)|models\/models-search)/,
}

/** Modules that both pages need on every screen. In one chunk, they compress better. */
const shared = {
  name: 'shared',
  test: /node_modules\/(react|react-dom|scheduler)\/|lucide-react\/dist\/esm\/(?!icons)|preload-helper|core\/src\/async\/clock|web\/src\/fish\//,
}

/** The model list, without the module for its URL parameters, which every screen needs. */
const list = { name: 'list', test: /web\/src\/models\/(?!models-search)/ }

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
            codeSplitting: {
              groups: [queries, router, small, list, shared],
              includeDependenciesRecursively: false,
            },
          },
        },
  },
  ssr: { noExternal: true },
}))
