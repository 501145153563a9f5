/**
 * Names of functions, classes and files for grouping version 1, without what changes from build to build. Frozen with
 * `v1.ts`: never changed once issues depend on it.
 */

export function fileName(path: string): string {
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

/** Null: the function has no name that would still be its name tomorrow. */
export function cleanFunction(raw: string, platform: string): string | null {
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
    case 'native':
    case 'c':
    case 'cpp':
    case 'rust':
    case 'cocoa':
    case 'objc':
    case 'swift':
      return cleanNativeFunction(raw)
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
export function cleanClass(raw: string): string {
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

function cleanNativeFunction(raw: string): string | null {
  let name = raw.trim()
  if (name === '' || name === '?' || name === '<unknown>' || name === '<redacted>' || name === '???') return null
  if (/^(?:0x[0-9a-f]+|sub_[0-9a-f]+|loc_[0-9a-f]+|FUN_[0-9a-f]+)$/i.test(name)) return null
  name = name.replace(/ ?\+ ?(?:0x[0-9a-f]{1,16}|\d{1,12})$/i, '')
  if (/^[-+]\[/.test(name)) return name
  const block = /^__\d*([-+]\[[^\]]{1,500}\])_block_invoke/.exec(name)
  if (block !== null) return `${block[1] ?? ''} block`
  name = name
    .replace(/(?:\.(?:cold|isra|constprop|part|llvm|lto_priv)(?:\.\d+)*)+$/, '')
    .replace(/ \[clone [^\]]{1,100}\]$/, '')
    .replace(/::h[0-9a-f]{16}$/, '')
    .replace(
      /^(?:(?:specialized|merged|static|@objc|partial apply for|thunk for|protocol witness for|dispatch thunk of) )+/,
      '',
    )
    .replaceAll(/closure #\d+ (?:\([^)]{0,200}\)(?: -> \S{1,200})? )?in /g, 'closure in ')
    .replaceAll('(anonymous namespace)::', '')
    .replaceAll(/\{lambda\([^)]{0,200}\)#\d+\}/g, '{lambda}')
  return withoutArguments(name)
}

/** Drops template and call arguments, what comes after them, and a return type before the name. */
function withoutArguments(name: string): string | null {
  if (name.includes('operator')) return name
  let depth = 0
  let text = ''
  for (const character of name) {
    if (character === '<' || character === '(') {
      if (depth === 0 && character === '(' && text.trim() !== '' && !text.endsWith('::')) {
        // Swift keeps its labels: `evict(_:)` and `evict(_:at:)` are two functions.
        const labels = /^\(((?:[\w]+:)+)\)/.exec(name.slice(name.indexOf('(')))
        if (labels !== null) text += labels[0]
        break
      }
      depth += 1
    } else if (character === '>' || character === ')') depth = Math.max(0, depth - 1)
    else if (depth === 0) text += character
  }
  const plain = text.trim()
  if (plain.startsWith('closure in ')) return plain
  const last = plain.slice(plain.lastIndexOf(' ') + 1)
  return last === '' ? name : last
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
