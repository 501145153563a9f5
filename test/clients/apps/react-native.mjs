/**
 * The JavaScript layer of the React Native SDK under Node: the native module and the platform are replaced by the
 * minimum that the layer uses, and it sends by itself (`enableNative: false`), as in Expo Go. `crash <file>` crashes with
 * the stack in a file, such as one of Hermes.
 */
import { readFileSync } from 'node:fs'
import { registerHooks } from 'node:module'
import { fileURLToPath } from 'node:url'

globalThis.__DEV__ = false
let handler = () => {}
globalThis.ErrorUtils = { getGlobalHandler: () => handler, setGlobalHandler: (given) => (handler = given) }
globalThis.window = globalThis
// Metro gives every module a `require`; the SDK uses it for parts of the platform only.
globalThis.require = (name) => (name.endsWith('/Promise') ? Promise : {})
globalThis.HermesInternal = { enablePromiseRejectionTracker: () => {}, hasPromise: () => true }
const stub = new URL('./react-native-platform.mjs', import.meta.url).href
registerHooks({
  resolve(specifier, context, next) {
    if (specifier === 'react-native' || specifier.startsWith('react-native/'))
      return { url: stub, shortCircuit: true, format: 'module' }
    try {
      return next(specifier, context)
    } catch (error) {
      // A bundler of apps finds files without their extension; Node does not.
      if (error?.code !== 'ERR_MODULE_NOT_FOUND' && error?.code !== 'ERR_UNSUPPORTED_DIR_IMPORT') throw error
      try {
        return next(`${specifier}.js`, context)
      } catch {
        return next(`${specifier}/index.js`, context)
      }
    }
  },
  load(url, context, next) {
    if (!url.includes('/@sentry/react-native/dist/js/') || !url.endsWith('.js')) return next(url, context)
    // The package mixes both kinds of modules under one extension, which only bundlers accept.
    const isCommon = readFileSync(fileURLToPath(url), 'utf8').startsWith('"use strict"')
    return next(url, { ...context, format: isCommon ? 'commonjs' : 'module' })
  },
})

const { drawConnection, enter, OPTIONS, story } = await import('./story.mjs')
const Sentry = await import('@sentry/react-native')
Sentry.init({
  ...OPTIONS,
  dsn: process.env.SENTRY_DSN,
  release: 'com.acme.shop@3.1.0+77',
  enableNative: false,
  enableAutoSessionTracking: false,
})
enter(Sentry)
const [, , mode, stackFile] = process.argv
const crashes = mode === 'crash'
if (crashes) {
  try {
    if (stackFile !== undefined) throw errorOf(readFileSync(stackFile, 'utf8'))
    drawConnection()
  } catch (error) {
    // The JavaScript engine of a device calls this for an error that nothing catches.
    handler(error, true)
  }
} else {
  // Its SDK lists causes after their error, unlike every other, and marks neither.
  story(Sentry, { hasCause: false })
}
await Sentry.flush()
process.exit(crashes ? 1 : 0)

/** @param stack such as `TypeError: x is undefined`, and below it a line for each frame */
function errorOf(stack) {
  const [name, message] = stack.split('\n', 1)[0].split(': ')
  return Object.assign(new globalThis[name](message), { stack })
}
