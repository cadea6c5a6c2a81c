import tailwindcss from '@tailwindcss/vite'
import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'
import { compressed } from './compressed.ts'
import about from './package.json' with { type: 'json' }

/** What every screen of the registry needs, and the chat page does not: in one file it is smaller than in four. */
const queries = {
  name: 'queries',
  test: /tanstack\/(react-query|query-core)|web\/src\/api\//,
}

/** Nearly every screen needs them, and each chunk of a few lines has its own request and compression. */
const units = { name: 'units', test: /core\/src\/units/ }

/** Two pages: the registry's, and the chat that the daemon serves. What they share lies in `assets`. */
export default defineConfig(({ isSsrBuild }) => ({
  define: { __VERSION__: JSON.stringify(about.version) },
  plugins: [react(), tailwindcss(), ...(isSsrBuild ? [] : [compressed()])],
  build: {
    outDir: 'dist/client',
    emptyOutDir: true,
    copyPublicDir: !isSsrBuild,
    assetsInlineLimit: 0, // the pages' policy allows no data: URLs
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
