/**
 * Builds the app in this folder, minified and with maps: `node build.mjs <tool> <folder> [plug-in]`. With the third word, the
 * plug-in of the tool uploads the maps to what the environment names.
 */
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'

const [, , tool, folder, uploads] = process.argv
// Another entry is built by tests of readers of source maps.
const entry = process.env.ENTRY ?? join(import.meta.dirname, 'main.js')
const file = join(folder, 'main.mjs')

async function plugin(name) {
  if (uploads === undefined) return []
  const { [name]: create } = await import(`@sentry/${tool}-plugin`)
  return [create({ telemetry: false })]
}

const BUILDS = {
  async vite() {
    const { build } = await import('vite')
    const plugins = await plugin('sentryVitePlugin')
    const rolldownOptions = { input: entry, output: { entryFileNames: 'main.mjs' } }
    await build({
      configFile: false,
      logLevel: 'warn',
      root: import.meta.dirname,
      plugins,
      build: { sourcemap: 'hidden', outDir: folder, emptyOutDir: false, rolldownOptions },
    })
  },
  async rollup() {
    const { rollup } = await import('rollup')
    const bundle = await rollup({ input: entry, plugins: await plugin('sentryRollupPlugin') })
    await bundle.write({ file, sourcemap: true, compact: true })
    await bundle.close()
  },
  async esbuild() {
    const { build } = await import('esbuild')
    const plugins = await plugin('sentryEsbuildPlugin')
    await build({
      entryPoints: [entry],
      outfile: file,
      bundle: true,
      minify: true,
      format: 'esm',
      sourcemap: true,
      plugins,
    })
  },
  async webpack() {
    const { default: webpack } = await import('webpack')
    const compiler = webpack({
      mode: 'production',
      context: import.meta.dirname,
      entry,
      target: 'node',
      devtool: 'hidden-source-map',
      experiments: { outputModule: true },
      output: { path: dirname(file), filename: 'main.mjs', module: true },
      plugins: await plugin('sentryWebpackPlugin'),
    })
    const stats = await promisify(compiler.run.bind(compiler))()
    if (stats.hasErrors()) throw new Error(stats.toString())
    await promisify(compiler.close.bind(compiler))()
  },
}

await BUILDS[tool]()
