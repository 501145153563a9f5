import type { Event, Frame } from '../../events/protocol/event.api.ts'

/** Addresses from which browsers load extensions; no page has such an address. */
const EXTENSION_URL =
  /^(?:chrome-extension|moz-extension|safari-extension|safari-web-extension|ms-browser-extension|webkit-masked-url|resource|chrome|extensions?):/i

/** Scripts that toolbars, ad blockers and download helpers insert into every page. */
const EXTENSION_HOSTS =
  /^https?:\/\/(?:[\w.-]+\.)?(?:texthelp\.com|widdit\.com|superfish\.com|conduit\.com|hotbar\.com|metrics\.itunes\.apple\.com\.edgesuite\.net)\//i

/**
 * Known messages of extensions, in-app browsers and mail scanners. They contain names of that code or of the extension
 * API, so an app's own errors do not match.
 */
const KNOWN_NOISE = new RegExp(
  [
    'Extension context invalidated',
    'runtime\\.(?:connect|sendMessage)\\b.*(?:extension|match definition)',
    'Could not establish connection\\. Receiving end does not exist',
    'message port closed before a response was received',
    'Object Not Found Matching Id:\\d+, MethodName:',
    'top\\.GLOBALS',
    'originalCreateNotification',
    'canvas\\.contentDocument',
    'MyApp_RemoveAllHighlights',
    'atomicFindClose',
    'conduitPage',
    'EBCallBackMessageReceived',
    'fb_xd_fragment',
    'bmi_SafeAddOnload',
    'jigsaw is not defined',
    'ComboSearch is not defined',
    'ceCurrentVideo\\.currentTime',
    'plugin\\.setSuspendState',
    '_AutofillCallbackHandler',
    'instantSearchSDKJSBridgeClearHighlight',
    'pktAnnotationHighlighter',
    '__gCrWeb',
    '__firefox__',
    "Can't find variable: (?:ZiteReader|gmo|PaymentAutofillBridge)",
    'zaloJSV2',
    'vid_mate_check',
    'DarkReader',
    'kwift\\.(?:CHROME|EDGE)',
  ].join('|'),
  'i',
)

const isExtensionUrl = (url: string | null): boolean =>
  url !== null && (EXTENSION_URL.test(url) || EXTENSION_HOSTS.test(url))

/**
 * Whether an extension threw the error, or the message is a known one of extensions. Only the innermost frame counts: an
 * extension that wraps a function of the page is further out.
 */
export function isExtensionError(event: Event): boolean {
  for (const exception of event.exceptions) {
    const thrower = exception.stacktrace?.frames.findLast(hasSource)
    if (thrower !== undefined && (isExtensionUrl(thrower.abs_path) || isExtensionUrl(thrower.filename))) return true
    if (exception.value !== null && KNOWN_NOISE.test(exception.value.slice(0, 1_000))) return true
  }
  return event.message !== null && KNOWN_NOISE.test(event.message.slice(0, 1_000))
}

/** Whether a frame names its source; `<anonymous>` and `[native code]` do not. */
function hasSource(frame: Frame): boolean {
  const source = frame.abs_path ?? frame.filename
  return source !== null && source !== '' && !source.startsWith('<') && !source.startsWith('[')
}
