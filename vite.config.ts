import { fileURLToPath } from 'node:url'
import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

const everywhere =
  /node_modules[\\/](?:react|react-dom|scheduler|use-sync-external-store|zod|@floating-ui[\\/][^\\/]+|@tanstack[\\/](?!react-virtual|virtual-core)[^\\/]+|@radix-ui[\\/](?!react-(?:popover|tabs))[^\\/]+)[\\/]/

/** The dashboard: `web/` → `web/dist/`, served by the same process as the API. */
export default defineConfig({
  root: 'web',
  plugins: [react()],
  resolve: { alias: { 'react-remove-scroll': fileURLToPath(new URL('web/ui/no-scroll-lock.tsx', import.meta.url)) } },
  build: {
    outDir: 'dist',
    emptyOutDir: true,
    // The first with light-dark(), which the colours are written in.
    target: ['chrome123', 'edge123', 'firefox120', 'safari17.5'],
    // Inlined files would need `data:` in the content policy.
    assetsInlineLimit: 0,
    // The polyfill is an inline style of loading that no supported browser needs.
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    rolldownOptions: {
      output: {
        // Few files that compress well, one of which stays the same from version to version. Only what every page
        // needs may be in it; what one page alone uses stays with that page.
        codeSplitting: { groups: [{ name: 'libraries', test: everywhere }] },
      },
    },
  },
  server: {
    port: 5173,
    // Not our own sources in web/api/.
    proxy: { '^/api/(?!.+\\.tsx?(?:\\?|$))': { target: process.env.DEV_API_URL ?? 'http://127.0.0.1:8000' } },
  },
})
