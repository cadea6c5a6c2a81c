import tailwindcss from '@tailwindcss/vite'
import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'
import { compressed } from './compressed.ts'
import about from './package.json' with { type: 'json' }

/** Modules that every screen of the registry needs, but not the chat page. One chunk is smaller than four. */
const queries = {
  name: 'queries',
  test: /tanstack\/(react-query|query-core)|web\/src\/api\//,
}

/** Small modules that nearly every screen needs. Separate chunks would be separate requests, each compressed alone. */
const units = { name: 'units', test: /core\/src\/units/ }

/** Two pages: the registry's, and the chat that the daemon serves. Their shared files are in `assets`. */
export default defineConfig(({ isSsrBuild }) => ({
  define: { __VERSION__: JSON.stringify(about.version) },
  plugins: [react(), tailwindcss(), ...(isSsrBuild ? [] : [compressed()])],
  build: {
    outDir: 'dist/client',
    emptyOutDir: true,
    copyPublicDir: !isSsrBuild,
    assetsInlineLimit: 0, // the content security policy of the pages allows no data: URLs
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
