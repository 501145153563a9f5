import { baseName } from './v2-common-names.ts'
import { cleanClass as cleanClassV2, cleanFunction as cleanFunctionV2, fileName as fileNameV2 } from './v2-names.ts'

/**
 * Names for grouping version 3: the rules of version 2, with more names that tools make, and what names tell. Frozen with
 * `v3.ts`: never changed once issues depend on it.
 */

// --- Files --------------------------------------------------------------------------------------------------------

/** Files of compiled templates, of evaluated code and of pages that ASP.NET compiles. */
const MADE_FILE =
  /[0-9a-f]{10}|(?:Ghost|Proxy)[0-9a-f]{7}|eval\(\)'d|^App_Web_|^memory:|^tmp\w{8}\.|decorator-gen|generated/

/** @param withFolder where the folder distinguishes a file that every folder has */
export function fileName(path: string, withFolder: boolean): string {
  const base = baseName(path)
  if (!/\d|^tmp/.test(path) || (!MADE_FILE.test(base) && !path.includes("eval()'d")))
    return fileNameV2(path, withFolder)
  const evaluated = /^(.{1,500}?)\(\d{1,9}\) : eval\(\)'d code/.exec(path)?.[1]
  if (evaluated !== undefined) return fileName(evaluated, withFolder)
  if (/^[0-9a-f]{16,128}(?:\.blade)?\.php$/i.test(base)) return COMPILED
  // Programs write scripts to files that the system names.
  if (/^tmp[a-z0-9_]{8}\.\w{1,5}$/.test(base)) return base.replace(/^tmp\w{8}/, 'tmp')
  if (/^memory:0x[0-9a-f]+$/.test(base)) return 'memory'
  return fileNameV2(
    base
      .replace(/^[0-9a-f]{16,64}(?:_\d{1,9})?[._](?=.)/i, '')
      .replace(/--[0-9a-f]{8,64}(?=\.|$)/i, '')
      .replace(/(?<=[A-Za-z])(Ghost|Proxy)[0-9a-f]{7}(?=\.|$)/, '$1')
      .replace(/^(App_Web_[\w.-]{1,200}?\.)[0-9a-f]{8}\.[0-9a-z_-]{8}(?:\.\d{1,4})?(?=\.cs|$)/, '$1')
      .replace(/^(App_Web_)[0-9a-z_-]{8}(?=\.)/, '$1')
      .replace(/^<(decorator-gen|lambdifygenerated|attrs generated \w{1,20} [\w.]{1,100})-\d{1,9}>$/, '<$1>'),
    withFolder,
  )
}

/** A template that is named by nothing but a hash. */
export const COMPILED = '<compiled template>'

// --- Classes ------------------------------------------------------------------------------------------------------

const MADE_CLASS = /[0-9a-f]{7}|\$[$\w]{0,300}\d|Generated|^Script|^memory_0x|^App_Web_|_jsp\b/

export function cleanClass(raw: string): string {
  if (!/\d/.test(raw) || !MADE_CLASS.test(raw)) return cleanClassV2(raw)
  return cleanClassV2(withoutHashes(raw))
    .replace(/(\bGeneratedIteratorForCodegenStage|\bSpecific\w{1,40}Projection)\d+/, '$1')
    .replace(/^(?:Script|script)_?(?:\d{1,20}|[0-9a-f]{16,64})(?=$|\$)/, 'Script')
    .replace(/^(memory)_0x[0-9a-f]{1,16}$/, '$1')
    .replace(/^(App_Web_)[0-9a-z_-]{8}$/, '$1')
    .replace(/\$\$FastClass\w{0,40}(?:\$\$\w{1,40})?$/, '$$$$CGLIB')
}

/** Hashes at the end of names of templates, proxies and lazy objects. */
function withoutHashes(name: string): string {
  return name
    .replaceAll(
      /(__TwigTemplate|__Mustache|\bRazorEngine|\bTemplate|\bcontent)_?[0-9a-f]{10,128}(?:___?\d{1,12})?(?:_\d{1,12})?(?![0-9a-z])/g,
      '$1',
    )
    .replaceAll(/(?<=[A-Za-z])(Ghost|Proxy|EntityManager_|Generated)[0-9a-f]{7,64}(?![0-9a-zA-Z])/g, '$1')
    .replaceAll(/(?<=\w)_[0-9a-f]{32,64}(?![0-9a-zA-Z])/g, '')
}

/** Classes that only pass a call on: proxies that frameworks make while running, lambdas as classes, and reflection. */
const PASSES_ON =
  /(?:^|[.$])\$Proxy\d*$|\$\$(?:EnhancerBy|FastClassBy|FastClass|Enhancer|SpringCGLIB|CGLIB|(?:External|Internal)SyntheticLambda|Lambda[$/\d])|\$(?:Hibernate(?:Basic)?Proxy|ByteBuddy|MockitoMock)(?:\$|$)|_\$\$_(?:jvst|javassist|Weld)|\$(?:auxiliary\$|Intercepted$)|[a-z]_(?:Subclass|ClientProxy)$|^(?:jdk\.internal|java\.lang|sun)\.(?:reflect|invoke)\.|^Castle\.Proxies\.|^generatedProxy_\d|^ProxyManagerGeneratedProxy\b/
const MAY_PASS_ON =
  /\$(?:\$|Proxy|Hib|Byte|Mock|aux|Inter)|^(?:jdk|java\.lang|sun)\.|roxies\.|_Subclass$|_ClientProxy$|^generatedProxy|^ProxyManager/

export const passesOn = (module: string): boolean => MAY_PASS_ON.test(module) && PASSES_ON.test(module)

// --- Functions ----------------------------------------------------------------------------------------------------

/** Null: the function has no name that would still be its name tomorrow. */
export function cleanFunction(raw: string, platform: string): string | null {
  switch (platform) {
    case 'native':
    case 'c':
    case 'cpp':
    case 'rust':
    case 'cocoa':
    case 'objc':
    case 'swift':
      return isPlaceholder(raw) ? null : cleanFunctionV2(raw, platform)
    case 'java':
    case 'android':
    case 'kotlin':
    case 'scala':
    case 'groovy': {
      // Older compilers of Kotlin write a dash before the number of a lambda; Scala adapts functions in a step between.
      const name = raw.includes('$') ? raw.replaceAll(/\$lambda-(?=\d)/g, '$lambda$').replace(/\$adapted$/, '') : raw
      return cleanFunctionV2(
        name.startsWith('_jspx_') ? name.replace(/_?\d{1,6}$/, '').replace(/_005f\d{1,6}$/, '') : name,
        platform,
      )
    }
    case 'javascript':
    case 'node':
      return OLD_EDGE.test(raw) ? null : cleanFunctionV2(raw, platform)
    case 'php':
    case 'csharp':
    case 'python':
      return cleanFunctionV2(/[0-9a-f]{7}/.test(raw) ? withoutHashes(raw) : raw, platform)
    default:
      return cleanFunctionV2(raw, platform)
  }
}

const OLD_EDGE = /^(?:Global code|Eval code|Function code|Unknown script code|Anonymous function)$/

/** Symbolisers write these where they know no function: placeholders, headers of images, sections, addresses. */
const PLACEHOLDER =
  /^(?:\?+|<[a-z][a-z_ .-]{0,40}>|\[(?:unknown|inlined?)\]|\((?:unknown|null|no symbols?|nil)\)|unknown(?: (?:function|symbol))?|null|no symbols?|stripped(?:_application_code)?|_{0,3}mh_\w{1,20}_header|_{0,3}lldb_unnamed_symbol.{0,100}|_{0,2}unnamed_\d+|__hidden#\d+_|OUTLINED_FUNCTION_\d+|_kDart(?:Vm|Isolate)Snapshot\w{1,20}|@?0x[0-9a-f]+|(?:sub|loc|locret|nullsub|fcn|func?|unk|off|lab|ptr|j_sub|thunk_fun)[._](?=[a-f]*\d)(?:0x)?[0-9a-f]{3,16}|__dso_handle|\.(?:text|init|fini|plt)|_{1,2}(?:text|etext|init|fini)|__TEXT|__bss_start|__gmon_start__|_GLOBAL_OFFSET_TABLE_|\$[adtx](?:\.\d+)?|\.?L[\w.]{0,10}\d+|ltmp\d+|GCC_except_table\d+)$/i
const WITH_OFFSET = /^(.{0,1000}?) ?\+ ?(0x[0-9a-f]{1,16}|\d{1,18})$/i
/** Hardly any function is longer: the name is only the nearest one that is exported. */
const LONGEST_FUNCTION = 0xffff

/** Whether a native name says no function. */
export function isPlaceholder(raw: string): boolean {
  const name = raw.trim().replace(/^[\w.+-]{1,100}!(?=[<?\w])/, '')
  if (PLACEHOLDER.test(name)) return true
  const found = name.includes('+') ? WITH_OFFSET.exec(name) : null
  if (found === null) return false
  const [, symbol = '', offset = '0'] = found
  return symbol === '' || PLACEHOLDER.test(symbol) || Number(offset) > LONGEST_FUNCTION || isStart(symbol)
}

// --- Names that tell nothing --------------------------------------------------------------------------------------

/** Where programs, requests and commands enter. */
const STARTS =
  /^(?:\{main\}|_{0,2}main|w?WinMain|wWinMain|wmain|\$main|<main>|<module>|<top \(required\)>|<?Main>?\$?|UIApplicationMain|NSApplicationMain|android_main|handler|lambda_handler|runApp|main(?:\.<(?:anonymous closure|fn)>)+|main\.?(?:func|closure)?|\{closure\})$/
/** Classes that every request, call or job passes: filters, middleware, interceptors, decorators. */
const DISPATCHES =
  /^(?:doFilter(?:Internal)?|intercept|preHandle|aroundInvoke|ServeHTTP|RoundTrip|__call__|__invoke|next|dispatch|wrapper|wrapped|_wrapped(?:_view)?|inner|InvokeAsync)$/
const PHP_DISPATCHES =
  /\\Middleware\\[\w\\]{1,200}::(?:handle|process|__invoke)$|\\Kernel::handle$|^(?:include|require)(?:_once)?$/

/** Whether a frame of the app says where something went wrong. @param name the cleaned name */
export function tells(name: string, platform: string, place: string | null): boolean {
  if (platform === 'php' && PHP_DISPATCHES.test(name)) return false
  if (place === COMPILED) return false
  const last = name.slice(Math.max(name.lastIndexOf('.'), name.lastIndexOf(':'), name.lastIndexOf('#')) + 1)
  if (STARTS.test(last) || STARTS.test(name) || DISPATCHES.test(last)) return false
  return !((platform === 'csharp' || platform === 'php') && /^(?:Invoke|__TwigTemplate)$/.test(last))
}

/** Where a native program or thread starts. */
const isStart = (name: string): boolean => STARTS.test(name) || /^_?start$/.test(name)

/** Functions that a minifier named. */
export const isMinified = (name: string): boolean => /^[\w$]{1,2}$/.test(name)

/** Functions of a system that are called from everywhere: memory, texts, messages to objects, queues, run loops. */
const OF_EVERYTHING =
  /^(?:_{0,2}CF\w+|NS\w+|GSEvent\w+|[-+]\[(?:__NS|NS(?:Object|Proxy|Exception|Thread|RunLoop|Mutable|Array|Dictionary|Set|String|Number|Data|URL(?!Session)|Date|Value|Null|Operation|Block|Invocation)\w*|UIApplication|NSApplication)[\w() ]* .*|_{0,3}forwarding_{0,3}|_{0,3}exceptionPreprocess|_{0,2}NSThread__\w+|_?dispatch_\w+|_{0,2}pthread_\w+|_?objc_\w+|_?swift_\w+|_?os_\w+|mach_\w+|_{1,2}\w+_trap|_?platform_\w+|_{0,2}(?:mem|str|wcs)[a-z_0-9]+|_{0,2}(?:malloc|calloc|realloc|free|abort|raise|kill|exit|assert)\w*|operator (?:new|delete).*|(?:start|thread_start|start_wqthread|_?xzm_\w+|szone_\w+|nano_\w+|tiny_\w+|small_\w+)|std::.*|art::.*|Rtl\w+|Nt\w+|Zw\w+|Ldr\w+|Ki\w+|Base\w+|RaiseException|_?CxxThrowException|__C\w+|UnhandledException\w+|_?invoke_\w+)$/

/** Whether a frame of a system says what the app did. */
export const tellsOfSystem = (name: string): boolean => !OF_EVERYTHING.test(name) && !isStart(name)
