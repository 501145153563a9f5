import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import react from '@vitejs/plugin-react'
import { defineConfig, type Plugin } from 'vite'
import { guide } from './scripts/guide/build.ts'

const everywhere =
  /node_modules[\\/](?:react|react-dom|scheduler|use-sync-external-store|@tanstack[\\/](?!react-virtual|virtual-core)[^\\/]+)[\\/]/

/** Sheets of the parts every page is made of: in one file, in the order of their import, before those of any page. */
const partStyles = /[\\/]web[\\/]ui[\\/][^\\/]+\.css$/

/** Compression of less than a packet gains nothing. */
const MIN_BYTES = 1_400

/**
 * Writes `.br` and `.gz` beside every hashed file at build time, so that the service compresses nothing while it
 * serves.
 */
const compressed: Plugin = {
  name: 'compressed',
  apply: 'build',
  async writeBundle({ dir = '' }, bundle) {
    await Promise.all(
      Object.keys(bundle)
        .filter((name) => /\.(?:js|css|svg)$/.test(name))
        .map(async (name) => {
          const path = join(dir, name)
          const bytes = await readFile(path)
          if (bytes.length < MIN_BYTES) return
          // Quality 11 takes ten times as long for 4 % less.
          const params = { [constants.BROTLI_PARAM_QUALITY]: 9 }
          await writeFile(`${path}.br`, await promisify(brotliCompress)(bytes, { params }))
          await writeFile(`${path}.gz`, await promisify(gzip)(bytes, { level: 9 }))
        }),
    )
  },
}

const figures =
  /web[\\/](?:ui[\\/](?:chart[\\/](?:legend|sparkline)|status)|subjects[\\/](?:figures[\\/](?:markers|time-axis|time-window)|issue[\\/](?:headline|platforms|trend)))\.tsx?$/

/** The dashboard: `web/` → `web/dist/`, served by the same process as the API. */
export default defineConfig({
  root: 'web',
  plugins: [react(), guide, compressed],
  resolve: { alias: { 'react-remove-scroll': fileURLToPath(new URL('web/ui/no-scroll-lock.tsx', import.meta.url)) } },
  build: {
    outDir: 'dist',
    emptyOutDir: true,
    // The first browsers with light-dark(), which the colours use.
    target: ['chrome123', 'edge123', 'firefox120', 'safari17.5'],
    // Inlined files would need `data:` in the content policy.
    assetsInlineLimit: 0,
    // The polyfill is an inline style of loading that no supported browser needs.
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    rolldownOptions: {
      output: {
        // The first load names every file, and a hash does not compress.
        chunkFileNames: 'assets/[name]-[hash:7].js',
        assetFileNames: 'assets/[name]-[hash:7][extname]',
        // Few files that compress well, one of which stays the same from version to version. Only what every page
        // needs may be in it; what one page alone uses stays with that page.
        codeSplitting: {
          groups: [
            { name: 'libraries', test: everywhere },
            { name: 'parts', test: partStyles },
            // One file of what many pages share, instead of a dozen small ones, which compress worse.
            { name: 'common', minShareCount: 28, test: /[\\/](?:web|shared)[\\/].*\.tsx?$|preload-helper/ },
            // One file of what charts and rows share, for the same reason.
            { name: 'figures', minShareCount: 2, test: figures },
          ],
        },
      },
    },
  },
  server: {
    port: 5173,
    // Without our sources in web/api/.
    proxy: { '^/api/(?!.+\\.tsx?(?:\\?|$))': { target: process.env.DEV_API_URL ?? 'http://127.0.0.1:8000' } },
  },
})
