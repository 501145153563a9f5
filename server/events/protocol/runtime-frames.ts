import type { Frame } from './event.api.ts'
import { isSdkFrame, isSystemImage } from './sdk-frames.ts'

/** Frames that are not in-app, whatever the SDK sent: of SDKs, runtimes, standard libraries and bundlers. */

type Located = Pick<Frame, 'filename' | 'abs_path' | 'function' | 'module' | 'package'>

/** @param platform the frame's, else the event's */
export function isRuntimeFrame(frame: Located, platform: string): boolean {
  switch (platform) {
    case 'javascript':
    case 'node':
      return isOfBundler(frame, platform)
    case 'native':
    case 'c':
    case 'cpp':
    case 'rust':
    case 'cocoa':
    case 'objc':
    case 'swift':
      return isNativeRuntime(frame) || isSdkFrame(frame, platform)
    case 'java':
    case 'android':
    case 'kotlin':
    case 'scala':
    case 'groovy':
      return (frame.module !== null && JVM.test(frame.module)) || isSdkFrame(frame, platform)
    case 'go':
      return isGoStandard(frame) || isSdkFrame(frame, platform)
    case 'php':
      return frame.filename === '[internal]' || isSdkFrame(frame, platform)
    case 'ruby':
      return RUBY.test(frame.abs_path ?? frame.filename ?? '') || isSdkFrame(frame, platform)
    case 'csharp':
      return DOTNET.test(frame.module ?? frame.function ?? '') || isSdkFrame(frame, platform)
    case 'dart':
      return DART.test(frame.abs_path ?? frame.filename ?? '') || isSdkFrame(frame, platform)
    default:
      return false
  }
}

/** Not all that is out of the app by default: apps configure that `com.android.settings` is theirs. */
const JVM =
  /^(?:java|javax|jdk|sun|com\.sun\.proxy|kotlin|kotlinx|scala|groovy|org\.codehaus\.groovy|clojure|dalvik|libcore|android|androidx|com\.android\.internal)\./
const DOTNET =
  /^(?:System|Mono|Interop|Internal|UnityEngine|Microsoft\.(?:AspNetCore|Extensions|EntityFrameworkCore|CSharp|VisualBasic|Win32|Data|Maui|UI|CodeAnalysis))(?:\.|$)/
const DART = /^(?:dart:|package:flutter\/)/
/** The library of Ruby, not the gems beside it. */
const RUBY = /^<internal:|\/lib\/ruby\/\d[\d.]*\/|\/lib\/ruby\/(?:site|vendor)_ruby\//

/** Names that have no extension are made up by the bundler. */
const BUNDLER =
  /(?:^|\/)webpack\/(?:bootstrap|startup|before-startup|after-startup|runtime\/[\w ]{1,80})(?:[? ][\w ]{0,80})?$|\(webpack\)\/|\/@vite\/|\/@react-refresh|\[turbopack\]|(?:^|\/|\0)vite\/(?:preload-helper|modulepreload-polyfill)|commonjsHelpers\.js|rollupPluginBabelHelpers|\/parcel-bundler\//

function isOfBundler(frame: Located, platform: string): boolean {
  // Where a bundle was resolved, the address belongs to the bundle, and the name to the source.
  const { filename, abs_path: path } = frame
  if (filename !== null && isOfLibrary(filename)) return true
  if (path !== null && path !== filename && isOfLibrary(path)) return true
  return (
    platform === 'javascript' &&
    ((filename !== null && BUNDLER.test(filename)) || (path !== null && BUNDLER.test(path)))
  )
}

const isOfLibrary = (path: string): boolean =>
  path.includes('node_modules') && /(?:^|[\\/])node_modules[\\/]/.test(path)

const RUST_SOURCE =
  /^(?:[a-z]:)?[\\/]rustc[\\/][0-9a-f]{7,40}[\\/]|[\\/]rustlib[\\/]src[\\/]rust[\\/]|^library[\\/](?:std|core|alloc)[\\/]src[\\/]/i
const STANDARD = /^std::/
const RUST_STANDARD =
  /^(?:core|alloc)::(?:any|alloc|array|ascii|borrow|boxed|cell|char|clone|cmp|collections|convert|default|error|f32|f64|ffi|fmt|future|hash|hint|intrinsics|iter|marker|mem|num|ops|option|pin|ptr|raw_vec|rc|result|slice|str|string|sync|task|time|vec)::/
/** Functions of a standard type (or of any), from a standard trait. */
const RUST_IMPL = /^<(?:&(?:mut )?|dyn |\*(?:const|mut) |\[|\()*(?:(?:std|core|alloc)::|[A-Z]\w? as )/
const OTHER_TRAIT = / as (?!(?:std|core|alloc)::)/
const SYSTEM_FOLDER =
  /^(?:\/System\/|\/usr\/lib\/(?:system|swift)\/|\/apex\/|[a-z]:\\windows\\)|\/RuntimeRoot\/(?:System|usr\/lib)\//i

function isNativeRuntime({ function: name, package: image, abs_path: absPath, filename }: Located): boolean {
  const path = absPath ?? filename
  if (path !== null && RUST_SOURCE.test(path)) return true
  if (image !== null && (SYSTEM_FOLDER.test(image) || isSystemImage(image))) return true
  if (name === null) return false
  if (STANDARD.test(name) || (RUST_IMPL.test(name) && !OTHER_TRAIT.test(name))) return true
  // C++ has namespaces of these names too, and writes arguments.
  return RUST_STANDARD.test(name) && !name.endsWith(')') && (path === null || path.endsWith('.rs'))
}

const GO_ROOT =
  /^\/usr\/(?:local|lib)\/go(?:-[\d.]+)?\/src\/|\/libexec\/src\/|\/go\d[\d.]*(?:\/go)?\/src\/|\/go\/\d[\d.]*\/\w+\/src\/|[\\/]Program Files[\\/]Go[\\/]src[\\/]/
const GO_PACKAGE =
  /^(?:bufio|bytes|compress|container|context|crypto|database\/sql|debug|encoding|errors|fmt|hash|html|image|io|log|maps|math|mime|net|os|path|reflect|regexp|runtime|slices|sort|strconv|strings|sync|syscall|testing|text|time|unicode|unsafe|internal)(?:\/|$)/

/** By where the file lies; where that is not known, by the package. */
function isGoStandard({ module, abs_path: path }: Located): boolean {
  if (path !== null && /^(?:\/|[a-z]:)/i.test(path)) return GO_ROOT.test(path)
  return module !== null && GO_PACKAGE.test(module)
}
