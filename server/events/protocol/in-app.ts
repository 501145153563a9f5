import type { Frame } from './event.api.ts'

/** Whether a frame is in-app, if the SDK did not send it. */

type Located = Pick<Frame, 'filename' | 'abs_path' | 'function' | 'module' | 'package'>

const JVM_SYSTEM = [
  'java.',
  'javax.',
  'jakarta.',
  'android.',
  'androidx.',
  'kotlin.',
  'kotlinx.',
  'com.android.',
  'dalvik.',
  'libcore.',
  'sun.',
  'com.sun.',
  'jdk.',
  'scala.',
  'groovy.',
  'io.sentry.',
]

const NATIVE_SYSTEM = [
  '/usr/lib',
  '/lib/',
  '/lib32/',
  '/lib64/',
  'linux-gate',
  'linux-vdso',
  '/apex/',
  '/system/',
  '/vendor/',
  '/System/',
  '/Library/Apple/',
  '/Developer/',
]

const EXTENSION_URL = /^(?:chrome|moz|safari|safari-web|ms-browser|webkit-masked-url)(?:-extension)?:\/\//
const GO_STANDARD = /\/(?:usr\/local\/go|libexec|go\d[\d.]*)\/src\/|^\/go\/src\/runtime\//

/** The default of a frame. @param platform the frame's, else the event's */
export function isInApp(frame: Located, platform: string): boolean {
  switch (platform) {
    case 'javascript':
    case 'node':
      return isScriptInApp(frame)
    case 'java':
    case 'android':
    case 'kotlin':
    case 'scala':
    case 'groovy':
      return frame.module === null || !startsWithAny(frame.module, JVM_SYSTEM)
    case 'native':
    case 'c':
    case 'cpp':
    case 'rust':
    case 'cocoa':
    case 'objc':
    case 'swift':
      return isNativeInApp(frame)
    case 'python':
      return !pathIncludes(frame, ['/site-packages/', '/dist-packages/', '/lib/python', '<frozen '])
    case 'ruby':
      return !pathIncludes(frame, ['/gems/', '/lib/ruby/', '<internal:'])
    case 'php':
      return !pathIncludes(frame, ['/vendor/', '[internal]'])
    case 'go':
      return isGoInApp(frame)
    case 'dart':
      return !startsWithAny(frame.abs_path ?? frame.filename ?? '', ['package:flutter/', 'dart:', 'package:sentry'])
    case 'csharp':
      return frame.module === null || !startsWithAny(frame.module, ['System.', 'Microsoft.', 'Sentry.', 'Mono.'])
    default:
      return true
  }
}

function isScriptInApp(frame: Located): boolean {
  const path = frame.abs_path ?? frame.filename
  if (path === null || path === '<anonymous>' || path === 'native' || path === '[native code]') return false
  if (path.startsWith('node:') || path.startsWith('internal/') || EXTENSION_URL.test(path)) return false
  return !path.includes('node_modules/') && !path.includes('node_modules\\')
}

function isNativeInApp(frame: Located): boolean {
  const image = frame.package
  if (image === null) return frame.filename !== null || frame.function !== null
  if (startsWithAny(image, NATIVE_SYSTEM) || /^[a-z]:\\windows\\/i.test(image)) return false
  if (/(?:^|[\\/])(?:libsentry[\w.-]*|Sentry(?:\.framework\/.*)?|sentry\.dll)$/.test(image)) return false
  return !/\.app\/Frameworks\/libswift\w*\.dylib$/.test(image)
}

/** The standard library has no dot in the first part of a package path. */
function isGoInApp(frame: Located): boolean {
  if (frame.abs_path !== null && GO_STANDARD.test(frame.abs_path)) return false
  const module = frame.module
  if (module === null || module === 'main') return true
  const slash = module.indexOf('/')
  const head = slash < 0 ? module : module.slice(0, slash)
  return head.includes('.') || !GO_STANDARD_HEADS.has(head)
}

const GO_STANDARD_HEADS = new Set(
  'bufio bytes compress container context crypto database debug encoding errors expvar flag fmt hash html image index io log maps math mime net os path plugin reflect regexp runtime slices sort strconv strings sync syscall testing text time unicode unsafe'.split(
    ' ',
  ),
)

function startsWithAny(text: string, prefixes: readonly string[]): boolean {
  for (const prefix of prefixes) if (text.startsWith(prefix)) return true
  return false
}

function pathIncludes(frame: Located, parts: readonly string[]): boolean {
  const path = frame.abs_path ?? frame.filename
  if (path === null) return false
  for (const part of parts) if (path.includes(part)) return true
  return false
}
