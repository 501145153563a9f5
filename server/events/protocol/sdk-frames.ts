import { writeOutCase } from '../../platform/kernel/letter-case.ts'
import type { Frame } from './event.api.ts'

/**
 * Frames of SDKs, and of what raises and takes errors: they stand in every stack and never say where it went wrong.
 * Frozen with grouping version 2, which leaves them out: this file never changes again.
 */

type Located = Pick<Frame, 'filename' | 'abs_path' | 'function' | 'module' | 'package'>

/** @param platform the frame's, else the event's */
export function isSdkFrame(frame: Located, platform: string): boolean {
  switch (platform) {
    case 'native':
    case 'c':
    case 'cpp':
    case 'rust':
    case 'cocoa':
    case 'objc':
    case 'swift':
      return isNativeSdk(frame)
    case 'java':
    case 'android':
    case 'kotlin':
    case 'scala':
    case 'groovy':
      return frame.module !== null && /^io\.sentry\.(?!samples?\.)/.test(frame.module)
    case 'go':
      return isIn(GO, frame)
    case 'php':
      return (
        (frame.function !== null && /^\\?Sentry\\/.test(frame.function)) ||
        hasPath(/[\\/]vendor[\\/]sentry[\\/]/, frame)
      )
    case 'ruby':
      return isIn(/^(?:(?:block|rescue|ensure)[^:]{0,20} in )*Sentry(?:::|[#.]|$)/, frame) || hasPath(RUBY_GEM, frame)
    case 'csharp':
      return isIn(/^Sentry(?:\.(?!Samples?\.)|$)/, frame)
    case 'dart':
      return hasPath(DART, frame)
    default:
      return false
  }
}

const GO = /^(?:runtime(?:\.|$)|github\.com\/getsentry\/sentry-go(?:[/.]|$))/
const RUBY_GEM = /[\\/]gems[\\/]sentry-(?:ruby|rails|sidekiq|raven|delayed_job|resque|opentelemetry)[\w.-]*[\\/]/
const DART =
  /^package:sentry(?:_(?:flutter|dio|logging|file|sqflite|drift|hive|isar|link|grpc|supabase|firebase_remote_config))?\//

/** Libraries of the system, by the names of their files. */
const SYSTEM_IMAGE = new RegExp(
  writeOutCase(
    String.raw`(?:^|[\\/])(?:(?:lib(?:c|pthread|m|dl|gcc_s|stdc\+\+|c\+\+(?:abi|_shared)?|objc|dyld|system_\w{1,40}|swift[A-Z_]\w{0,40})(?:-\d[\d.]{0,10})?(?:\.so(?:\.\d{1,5}){0,4}|(?:\.[A-Z\d]\w{0,10})?\.dylib|\.musl[\w.-]{0,30})?)|ld-(?:linux|musl)[\w.-]{0,40}|dyld(?:_sim)?|linux-(?:gate|vdso)[\w.]{0,20}|(?i:ntdll|kernel32|KernelBase|ucrtbased?|msvcrt|vcruntime\w{0,20})\.(?i:dll))$`,
  ),
)

export const isSystemImage = (image: string): boolean => SYSTEM_IMAGE.test(image)

const RUST =
  /^<?(?:sentry(?:_(?:core|panic|backtrace|anyhow|actix|tower|tracing|log|slog|contexts|debug_images|opentelemetry|types))?::|backtrace::|_{0,3}rust_(?:begin|end|start|panic|try|foreign|drop)\w*$|__rustc(?:\[\w{1,20}\])?::|std::(?:panicking|panic|rt|sys|sys_common|backtrace|thread)::|core::(?:panicking|panic|ops::function)::|core::(?:option|result)::\w{1,20}_failed\b)/
const C =
  /^(?:_start|sentry__\w+|sentry_(?:capture_\w+|handle_exception|value_new_stacktrace)|sentrycrash\w*|_{1,2}(?:libc_start_\w+|libc_init|GI_\w+|pthread_kill\w*|pthread_start|pthread_body|restore_rt|sigtramp|clone3?|assert_fail\w*|assert_rtn|cxa_\w+|gxx_\w+|Unwind_\w+|stack_chk_fail\w*|fortify_fail\w*|chk_fail|scrt_\w+|exceptionPreprocess)|objc_(?:exception_\w+|msgSend\w*|terminate)|RtlUserThreadStart|BaseThreadInitThunk)$/
/** Words a program may use for a function of its own; not in a library of the system. */
const C_WORD = /^(?:raise|abort|gsignal|pthread_kill|clone3?|start|start_thread|thread_start|syscall|tgkill)$/
const SWIFT =
  /^(?:_?swift_(?:unexpectedError|errorInMain|dynamicCast|abort|deleted|willThrow|retain|release|bridgeObject|allocObject|dealloc|slow|task_|job_run|once|beginAccess|runtime_|reportError|stdlib_|get\w+(?:Metadata|Witness)|initStackObject)\w*$|Swift runtime failure|(?:Swift\.)?_(?:assertionFailure|fatalErrorMessage|preconditionFailure)\(|(?:specialized )?Swift\._)/
const COCOA_SDK =
  /^[-+]\[Sentry(?:SDK|Client|Hub|Scope|Crash|ANR|Swizzle|Transport|Http|Session|Breadcrumb|Span|Tracer|Profil|UIViewController|Watchdog|AppHang|Network|NSError|Event|Envelope|FileManager|Dispatch|Screenshot|ViewHierarchy|SubClassFinder|CoreData|Performance|Framerate|Queue|Thread|Stacktrace)[\w()]* |^(?:@objc |static |specialized |closure #\d{1,4} .{0,200}?in )*Sentry(?:SDK|Swift)?\./

function isNativeSdk({ function: name, package: image }: Located): boolean {
  if (image !== null && /(?:^|[\\/])(?:libsentry[\w.-]*|Sentry|sentry\.dll)$/.test(image)) return true
  if (name === null) return false
  if (C_WORD.test(name)) return image === null || isSystemImage(image)
  return RUST.test(name) || C.test(name) || SWIFT.test(name) || COCOA_SDK.test(name)
}

/** The module, else the function, which then begins with it. */
function isIn(pattern: RegExp, { module, function: name }: Located): boolean {
  const text = module ?? name
  return text !== null && pattern.test(text)
}

function hasPath(pattern: RegExp, { filename, abs_path: path }: Located): boolean {
  return (path !== null && pattern.test(path)) || (filename !== null && pattern.test(filename))
}
