/**
 * Rules for names of files, classes and functions that `v2-names.ts` applies after its own, for grouping version 2. Frozen
 * with `v2.ts`: never changed once issues depend on it.
 */

export function cleanFileName(path: string): string {
  const decoded =
    path.includes('%2F') || path.includes('%3A') ? path.replaceAll('%2F', '/').replaceAll('%3A', ':') : path
  let end = decoded.length
  for (const stop of ['?', '#']) {
    const at = decoded.indexOf(stop)
    if (at >= 0 && at < end) end = at
  }
  const base = baseName(decoded.slice(0, end)).replace(/(?::\d+){1,2}$/, '')
  return withoutBuildHash(base).toLowerCase()
}

export function baseName(path: string): string {
  return path.slice(Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\')) + 1)
}

/** `app-a1b2c3d4.js`, `app.3f2a9c1b.min.js`, `index-BR-l9zjD.js`: what a bundler put in to outwit caches. */
export function withoutBuildHash(name: string): string {
  if (!/[-._~]/.test(name)) return name
  const short = name.replaceAll(/[-._~](?=[a-f]*\d)[0-9a-f]{7,64}(?=$|[.\-_])/g, '')
  const match = /-([\w-]{8})((?:\.(?:min|chunk|bundle))*(?:\.[cm]?[jt]sx?|\.css)?)$/.exec(short)
  const mark = match?.[1] ?? ''
  if (match === null || !(/\d/.test(mark) || /.[A-Z]/.test(mark)) || /^\d{4}-\d\d-?$/.test(mark)) return short
  return short.slice(0, match.index) + (match[2] ?? '')
}

/** @returns null for a function whose name differs from build to build */
export function cleanCommonFunction(raw: string, platform: string): string | null {
  switch (platform) {
    case 'javascript':
      return cleanBrowserFunction(raw)
    case 'node':
      return cleanScriptFunction(raw)
    case 'java':
    case 'android':
    case 'kotlin':
    case 'scala':
    case 'groovy':
      return cleanJvmFunction(raw)
    case 'csharp':
      return cleanOtherFunction(raw.replaceAll(/<(\w{1,200})>(?:d__\d+\.MoveNext|[a-z]__\d+(?:_\d+)?)/g, '$1'))
    case 'go':
      return raw.replaceAll(/\.func\d+(?:\.\d+)*/g, '.func').replace(/\[[^\]]*\]$/, '')
    default:
      return cleanOtherFunction(raw)
  }
}

const SCRIPT_ANONYMOUS = new Set([
  '',
  '?',
  '<anonymous>',
  'anonymous',
  '<unknown>',
  'eval',
  '(anonymous)',
  'Anonymous function',
  'global code',
  'module code',
  'eval code',
])

function cleanScriptFunction(raw: string): string | null {
  let name = raw.trim()
  const as = name.indexOf(' [as ')
  if (as >= 0) name = name.slice(0, as)
  name = name.replace(/^(?:async[ *]|new |get |set )+/, '')
  if (SCRIPT_ANONYMOUS.has(lastPart(name))) return null
  return name.replace(/^(?:Object|Module|Function|exports|module\.exports|null|undefined|window|self|global)\./, '')
}

/** Browsers disagree on what stands before a method's name (`Cart.pay`, `Cart.prototype.pay`, `pay`): it is left out. */
function cleanBrowserFunction(raw: string): string | null {
  const name = cleanScriptFunction(raw)
  if (name === null || name.endsWith('/<') || name.endsWith('</<')) return null
  return lastPart(name) || name
}

function lastPart(name: string): string {
  return name.slice(name.lastIndexOf('.') + 1)
}

function cleanJvmFunction(raw: string): string | null {
  if (!raw.includes('$')) return raw
  return raw
    .replace(/^lambda\$([^$]*)\$.*$/, 'lambda$$$1')
    .replace(/^access\$\d+$/, 'access$$')
    .replaceAll(/\$(?:lambda\$)?\d+/g, '$$')
}

/** Classes made while running or numbered by the compiler keep the part a person wrote. */
export function cleanCommonClass(raw: string): string {
  if (!raw.includes('$') && !raw.includes('Accessor') && !raw.includes('+<>c')) return raw
  return raw
    .replace(/\+<>c(?:__DisplayClass\d+_\d+)?$/, '')
    .replace(/\$\$(?:ExternalSynthetic)?Lambda[$/\dx]?.*$/, '$$$$Lambda')
    .replace(/\$\$(?:EnhancerBy|FastClassBy)?(?:Spring)?CGLIB\$\$.*$/, '$$$$CGLIB')
    .replace(/\$\$Enhancer\w*\$\$.*$/, '$$$$Enhancer')
    .replace(/(Generated(?:Method|Constructor|SerializationConstructor)Accessor)\d+$/, '$1')
    .replace(/\$Proxy\d+$/, '$$Proxy')
    .replaceAll(/\$\d+(?=$|\$)/g, '$$')
}

const OTHER_ANONYMOUS = new Set([
  '',
  '?',
  '<unknown>',
  '<anonymous>',
  '<lambda>',
  '[Anonymous function]',
  '(anonymous)',
])

function cleanOtherFunction(raw: string): string | null {
  const name = raw.trim()
  if (OTHER_ANONYMOUS.has(name) || /(?:^|\\)\{closure(?::.*)?\}$/.test(name) || name.includes('class@anonymous'))
    return null
  return name.replace(/^(?:block(?: \(\d+ levels\))?|rescue|ensure) in /, '')
}
