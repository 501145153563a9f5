import { baseName, cleanCommonClass, cleanCommonFunction, cleanFileName } from './v2-common-names.ts'

/**
 * Names of functions, classes and files for grouping version 2, without what changes from build to build. Frozen with
 * `v2.ts`: never changed once issues depend on it.
 */

// --- Files --------------------------------------------------------------------------------------------------------

/** Every folder has one of these: the name alone does not say which file it is. */
const IN_EVERY_FOLDER = /^\+?(?:index|page|layout|route|default|server)(?:\.server)?\.(?:[cm]?[jt]sx?|vue|svelte)$/
/** What a bundler or a server calls the folder everything lies in. */
const ROOT_FOLDER = /^(?:\.{1,2}|~|src|dist|build|out|lib|js|app|public|static|assets|chunks|www|html)$/i

/** @param withFolder where a file every folder has is told apart by its folder */
export function fileName(path: string, withFolder: boolean): string {
  const end = path.search(/[?#]/)
  const plain = end < 0 ? path : path.slice(0, end)
  const base = baseName(plain)
  const made = MADE_FILE.test(base) ? nameOfMade(base, plain, withFolder) : null
  if (made !== null) return made
  const name = cleanFileName(/\d/.test(base) ? withoutHash(base, plain) : base)
  // Of an absolute path the folders are those of a computer.
  if (!withFolder || !IN_EVERY_FOLDER.test(name) || /^(?:[\\/]|file:|[a-z]:)/i.test(path)) return name
  const folder = baseName(plain.slice(0, Math.max(plain.length - base.length - 1, 0)))
  // One with digits in it may be a version.
  return folder === '' || /[\d:]/.test(folder) || ROOT_FOLDER.test(folder) ? name : `${folder.toLowerCase()}/${name}`
}

/** Cells of notebooks, code typed into a console, and names that are nothing but a number or a hash. */
const MADE_FILE = /^(?:VM|<ipython-input-)?\d|^[0-9a-f-]{8,64}(?:\.|$)/

function nameOfMade(base: string, path: string, isScript: boolean): string | null {
  if (base.startsWith('<ipython-input-') || /(?:^|[\\/])ipykernel_\d+[\\/]\d+\.py$/.test(path)) return '<cell>'
  if (!isScript) return null
  if (/^VM\d+$/.test(base)) return '<console>'
  // The page a script stands in, and bundles named by their hash.
  const id =
    /^(?:\d+|(?=[a-f]*\d)[0-9a-f]{8,64}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})(\.(?:[cm]?js|hbc|bundle))?$/.exec(
      base,
    )
  // Chunks a bundler numbered have a rule of their own.
  return id === null || /^\d{1,6}\.[cm]?js$/.test(base) ? null : `<id>${id[1] ?? ''}`
}

/** Removes marks of bundlers that the common rules keep: `0.B2kd9s1K.js`, `17.chunk.js`, and a name that is only a hash. */
function withoutHash(base: string, path: string): string {
  if (/^[\w-]{8}\.[cm]?js$/.test(base) && /\/_nuxt\/[^/]*$/.test(path)) return 'chunk.js'
  const short = base.replace(
    /\.(?=[\w-]{0,7}[a-z])(?=[\w-]{0,7}[A-Z])(?=[\w-]{0,7}\d)[\w-]{8}(?=\.(?:[cm]?js|css)$)/,
    '',
  )
  return short.replace(/^\d{1,6}(?=(?:\.chunk)?(?:[.-][0-9a-f]{7,64})?(?:\.chunk)?\.[cm]?js$)/, 'chunk')
}

// --- Classes ------------------------------------------------------------------------------------------------------

/** One look saves seven: hardly any class is of these. */
const MADE =
  /0x|\$(?:Hibernate|ByteBuddy|MockitoMock|Proxy|fn_|eval_|reify_)|_\$\$_|Synthetic|\blambda\$?-|>[dc]__|_closure\d|Castle\.|\[\[|@\d/

/** Classes made while running or numbered by the compiler keep the part a person wrote. */
export function cleanClass(raw: string): string {
  if (!MADE.test(raw)) return cleanCommonClass(raw)
  return cleanCommonClass(
    raw
      // The JVM's hidden classes.
      .replace(/[/+]0x[0-9a-f]{4,16}$/i, '')
      .replace(/\$(HibernateProxy|HibernateBasicProxy|ByteBuddy|MockitoMock)\$[\w$]{1,40}$/, '$$$1')
      .replace(/_\$\$_(jvst|javassist)\w{0,20}$/, '_$$$$_$1')
      .replace(/\$\$InternalSyntheticLambda.*$/, '$$$$Lambda')
      .replace(/\$\$ExternalSynthetic(?!Lambda)([A-Za-z]{1,40})\d*$/, '$$$$$1')
      // Compose numbers the lambdas of a file, Clojure and Groovy everything without a name.
      .replaceAll(/\blambda\$?-\d+/g, 'lambda')
      .replaceAll(/\$(fn|eval|reify)_{1,2}\d+/g, '$$$1')
      .replaceAll(/_closure\d+/g, '_closure')
      // State machines of C#.
      .replaceAll(/\+<(\w{1,200})>(?:d__|c__Iterator)\d+(?:`\d+)?/g, '+<$1>')
      // The package of a proxy is numbered by the JVM, and another one in older ones.
      .replace(/^(?:com\.sun\.proxy|jdk\.proxy\d+)\.(?=\$Proxy)/, '')
      .replace(/^(Castle\.Proxies\.\w{1,300}?)_\d+$/, '$1')
      // Type arguments of .NET, and closures of F#, which are named by their line.
      .replace(/\[\[.*$/, '')
      .replaceAll(/@\d+(?:-\d+)?(?=$|[+.])/g, ''),
  )
}

// --- Functions ----------------------------------------------------------------------------------------------------

/** What Babel makes of generators and async functions, numbered by the file. */
const CALLEE = /(?:^|\.)_callee\d*\$?(?: \[as |$)/

/** Null: the function has no name that would still be its name tomorrow. */
export function cleanFunction(raw: string, platform: string): string | null {
  switch (platform) {
    case 'node':
      return CALLEE.test(raw) ? null : cleanCommonFunction(raw, platform)
    case 'javascript':
      if (CALLEE.test(raw)) return null
      // Firefox says how a function was called: `promise callback*load`, `setTimeout handler*load`.
      return cleanCommonFunction(raw.includes('*') ? raw.replace(/^(?:[\w. ]{1,60}\*)+/, '') : raw, platform)
    case 'java':
    case 'android':
    case 'kotlin':
    case 'scala':
    case 'groovy':
      return cleanCommonFunction(
        raw.includes('$')
          ? raw
              // Kotlin puts the name of the build into internal functions, and numbers lambdas within lambdas.
              .replace(/\$\w{1,80}_(?:debug|release)$/, '')
              .replaceAll(/(?:\$lambda\$\d+){2,}/g, '$$lambda$$0')
          : raw,
        platform,
      )
    case 'native':
    case 'c':
    case 'cpp':
    case 'rust':
    case 'cocoa':
    case 'objc':
    case 'swift':
      return cleanNative(raw)
    case 'csharp':
      return cleanCommonFunction(
        raw
          .replaceAll(/<(\w{1,200})>g__(\w{1,200})\|\d+(?:_\d+)?/g, '$1.$2')
          .replace(/\blambda_method\d+/, 'lambda_method'),
        platform,
      )
    case 'go':
      return cleanGo(raw)
    case 'dart':
      return cleanCommonFunction(raw.replaceAll('<fn>', '<anonymous closure>').replace(/^new /, ''), platform)
    case 'php':
      return cleanPhp(raw)
    case 'ruby':
      return cleanRuby(raw)
    case 'elixir':
      return cleanCommonFunction(
        raw.replaceAll(/\banonymous fn\/\d+ in /g, 'fn in ').replace(/^-(.{1,300})-fun-\d+-$/, 'fn in $1'),
        platform,
      )
    default:
      return cleanCommonFunction(raw, platform)
  }
}

function cleanGo(raw: string): string | null {
  let name = raw
  // Type arguments, also those of receivers and of arguments.
  for (let depth = 0; depth < 4 && name.includes('['); depth++) name = name.replaceAll(/\[[^[\]]*\]/g, '')
  return cleanCommonFunction(name.replaceAll(/\.(gowrap|deferwrap|init\.)\d+/g, '.$1'), 'go')
}

function cleanRuby(raw: string): string | null {
  const name = raw
    .replace(/^(?:(?:block(?: \(\d+ levels\))?|rescue|ensure) in )+/, '')
    // Since 3.4 the class stands before a method: `Acme::Cart#pay`, `Acme::Cart.build`.
    .replace(/^[A-Z]\w{0,200}(?:::[A-Z]\w{0,200}){0,20}[#.](?=.)/, '')
    // Rails numbers the functions it makes of templates.
    .replace(/(_(?:erb|haml|slim|builder|jbuilder|ruby))_{2,3}\d+_\d+$/, '$1')
  return cleanCommonFunction(name, 'ruby')
}

function cleanPhp(raw: string): string | null {
  // Since 8.4 a closure is named by the function it stands in and its line.
  const inner = raw.lastIndexOf('{closure:')
  const closure = inner < 0 ? undefined : /^\{closure:([^{}]{1,1000}?)(?::\d+)?\}/.exec(raw.slice(inner))?.[1]
  // One in no function is named by its file.
  if (closure !== undefined)
    return /\/|^[a-z]:\\|\.php$/i.test(closure) ? null : `${closure.replace(/\(\)$/, '')} closure`
  const at = raw.indexOf('@anonymous')
  // Symfony names a container by its hash.
  if (at < 0)
    return cleanCommonFunction(raw.replace(/^(\\?Container)(?=\w{0,6}\d|\w{1,6}[A-Z])\w{7}(?=\\)/, '$1'), 'php')
  // A class without a name is named by its file and line, behind a NUL if that came through.
  const method = raw.slice(raw.lastIndexOf('::') < at ? raw.length : raw.lastIndexOf('::'))
  return method === '' ? null : raw.slice(0, at) + '@anonymous' + method
}

// --- Native functions ---------------------------------------------------------------------------------------------

/** Stand for characters of operators, which are no brackets, and for spaces inside a name. */
const HELD: Readonly<Record<string, string>> = {
  '<': '\uE000',
  '>': '\uE001',
  '(': '\uE002',
  ')': '\uE003',
  ' ': '\uE004',
}
const FREED = Object.fromEntries(Object.entries(HELD).map(([character, held]) => [held, character]))
const hold = (text: string): string => text.replaceAll(/[<>() ]/g, (character) => HELD[character] ?? character)
const free = (text: string): string => text.replaceAll(/[\uE000-\uE004]/g, (held) => FREED[held] ?? held)

const DECORATED =
  /operator|lambda|closure|#\d|\$_\d|::__|<impl |`| : |resume partial|^(?:specialized|merged|static|@\w+|implicit|partial|thunk|protocol|dispatch) /

const OPERATOR = /\boperator ?(?:\(\)|\[\]|<=>|<<=|>>=|->\*|->|<<|>>|<=|>=|<|>)|\boperator (?=[\w:])/g

function cleanNative(raw: string): string | null {
  let name = raw.trim()
  if (name === '' || name === '?' || name === '<unknown>' || name === '<redacted>' || name === '???') return null
  if (/^(?:0x[0-9a-f]+|sub_[0-9a-f]+|loc_[0-9a-f]+|FUN_[0-9a-f]+)$/i.test(name)) return null
  name = name.replace(/ ?\+ ?(?:0x[0-9a-f]{1,16}|\d{1,12})$/i, '')
  const block = /^(?:__\d*)?([-+]\[[^\]]{1,500}\])_block_invoke/.exec(name)
  if (block !== null) return `${block[1] ?? ''} block`
  if (/^[-+]\[/.test(name)) return name
  name = name
    .replace(/(?:\.(?:cold|isra|constprop|part|llvm|lto_priv)(?:\.\d+)*)+$/, '')
    .replace(/ \[clone [^\]]{1,100}\]$/, '')
    .replace(/::h[0-9a-f]{16}$/, '')
    // Names IL2CPP makes of C#.
    .replace(/_m[0-9A-F]{32,64}(?=_gshared$|$)/, '')
    .replaceAll('(anonymous namespace)::', '')
  if (/[!@[]|_cgo_/.test(name)) name = withoutVersions(name)
  // One look saves ten: hardly any name holds one of these.
  if (DECORATED.test(name)) name = plainOf(name)
  const short = withoutArguments(name)
  return short === null ? null : free(short)
}

/** The library some write in front, and versions and hashes of symbols, crates and bindings. */
function withoutVersions(name: string): string {
  return name
    .replace(/^[\w.+-]{1,100}!(?=[\w:<~`?])/, '')
    .replaceAll(/\[abi:\w{1,40}\]/g, '')
    .replaceAll(/\[[0-9a-f]{8,16}\](?=::)/g, '')
    .replace(/@{1,2}[A-Z]\w{1,30}_[\d.]{1,20}$/, '')
    .replace(/\b_cgo_[0-9a-f]{8,16}_/, '_cgo_')
}

function plainOf(name: string): string {
  return (
    name
      .replace(/^\(\d+\) (?:await|suspend) resume partial function for /, '')
      .replace(
        /^(?:(?:specialized|merged|static|@objc|@nonobjc|implicit|partial apply for|thunk for|protocol witness for|dispatch thunk of) )+/,
        '',
      )
      .replaceAll(/(?:implicit )?closure #\d+ (?:\([^)]{0,200}\)(?: -> \S{1,200})? )?in /g, 'closure in ')
      // A closure within a closure is code of the function around both.
      .replaceAll(/(?:closure in ){2,}/g, 'closure in ')
      // The type of a Swift property.
      .replace(/(\.(?:getter|setter|modify|read|didset|willset|unsafeMutableAddressor)) : .*$/, '$1')
      .replaceAll("`anonymous namespace'::", '')
      .replaceAll(/\bstd::(?:__1|__ndk1|__cxx11)::/g, 'std::')
      .replaceAll(
        /\{lambda\([^)]{0,200}\)#\d+\}|\(lambda at [^)]{0,300}\)|'lambda\d*'(?:\([^)]{0,200}\))?|<lambda_[0-9a-f]+>|\$_\d+/g,
        '{lambda}',
      )
      .replaceAll('{{closure}}', '{closure}')
      .replaceAll(/\{closure@[^{}]{1,500}\}/g, '{closure}')
      .replaceAll(/\{([a-z_ ]{1,40})#\d+\}/g, '{$1}')
      .replaceAll(/(?:::\{closure\}){2,}/g, '::{closure}')
      .replaceAll(/<impl ([^<>]{1,300})>/g, (_, what: string) => `{impl${hold(` ${what}`)}}`)
      .replaceAll(OPERATOR, hold)
  )
}

/** Drops template and call arguments, what comes after them, and a return type before the name. */
function withoutArguments(name: string): string | null {
  const [own, from] = ofRustType(name)
  let depth = 0
  let text = own
  for (let at = from; at < name.length; at++) {
    const character = name.charAt(at)
    if (character === '(' && depth === 0 && text.trim() !== '' && !/(?:::|\bdecltype)$/.test(text)) {
      const close = closing(name, at)
      // What stands in a function: `pay() const::{lambda}`.
      const goesOn = /^(?: (?:const|volatile|noexcept|&&?))*(?=::)/.exec(name.slice(close + 1))
      if (goesOn === null) {
        text += labelsOf(name.slice(at + 1, close))
        break
      }
      at = close + goesOn[0].length
    } else if (character === '<' || character === '(') depth += 1
    else if (character === '>' || character === ')') depth = Math.max(0, depth - 1)
    else if (depth === 0) text += character
  }
  const plain = text.trim()
  if (plain.startsWith('closure in ')) return plain
  const last = plain.slice(plain.lastIndexOf(' ') + 1)
  return last === '' ? name : last
}

/** `<shop::Card as shop::Pay>::pay`: the type and the trait are part of a Rust function's name. */
function ofRustType(name: string): [own: string, from: number] {
  if (!name.startsWith('<')) return ['', 0]
  let depth = 0
  for (let at = 0; at < name.length; at++) {
    if (name[at] === '<') depth += 1
    else if (name[at] === '>' && name[at - 1] !== '-') depth -= 1
    if (depth > 0) continue
    if (!name.startsWith('::', at + 1)) break
    const parts = name.slice(1, at).split(' as ')
    return [hold(parts.map((part) => withoutGenerics(part)).join(' as ')), at + 1]
  }
  return ['', 0]
}

function withoutGenerics(type: string): string {
  let depth = 0
  let text = ''
  for (const character of type) {
    if (character === '<') depth += 1
    else if (character === '>') depth = Math.max(0, depth - 1)
    else if (depth === 0) text += character
  }
  return text
}

/** Where the bracket that opens at `from` closes; the end without one. */
function closing(name: string, from: number): number {
  let depth = 0
  for (let at = from; at < name.length; at++) {
    if (name[at] === '(') depth += 1
    else if (name[at] === ')' && --depth === 0) return at
  }
  return name.length
}

/** Swift keeps its labels: `evict(_:)` and `evict(_:at:)` are two functions, with their types or without. */
function labelsOf(given: string): string {
  if (/^(?:\w+:)+$/.test(given)) return `(${given})`
  const labels = [...given.matchAll(/(?:^|, )(\w+): /g)].map(([, label]) => `${label}:`)
  return labels.length === 0 ? '' : `(${labels.join('')})`
}
