import type { Event, Frame } from '../../events/protocol/event.api.ts'
import { leadingStack } from '../../events/protocol/labels.ts'

/** Paths of frames, as they are compared with paths of a repository. Pure. */

/** A file of a frame of the app. `depth` counts from 1, the innermost frame of the app. */
export type FramePlace = {
  readonly path: string
  readonly line: number | null
  readonly depth: number
  readonly given: string
}

/** Frames of an event that are looked at, the innermost. */
const MAX_FRAMES = 30
const MAX_CHARACTERS = 500

/** Files of the frames of the app, innermost first; all of a cause before those of what it caused. */
export function framePlaces(event: Event): FramePlace[] {
  const stacks = event.exceptions.flatMap(({ stacktrace }) => stacktrace ?? []).reverse()
  const leading = leadingStack(event.exceptions, event.threads)
  const frames = (stacks.length > 0 ? stacks : leading === null ? [] : [leading])
    .flatMap((stack) => stack.frames.filter(({ in_app: isOwn }) => isOwn).toReversed())
    .slice(0, MAX_FRAMES)
  return frames.flatMap((frame, index) => {
    const path = framePath(frame)
    return path === null
      ? []
      : [{ path, line: frame.lineno, depth: index + 1, given: frame.filename ?? frame.abs_path ?? '' }]
  })
}

/**
 * `app:///src/pay.ts?v=2` → `src/pay.ts`; `CheckoutFragment.kt` of the module `com.acme.CheckoutFragment` →
 * `com/acme/CheckoutFragment.kt`. Null for a frame without a file.
 */
export function framePath({
  filename,
  abs_path: full,
  module,
}: Pick<Frame, 'filename' | 'abs_path' | 'module'>): string | null {
  const paths = [filename, full].flatMap((given) => {
    const path = given === null ? '' : cleanPath(given)
    return path === '' ? [] : [path]
  })
  const [first] = paths
  if (first === undefined) return null
  const withFolders = paths.find((path) => path.includes('/'))
  if (withFolders !== undefined) return withFolders
  // A JVM frame has only the name of its file; its package is its folder.
  const parts = module?.split('.') ?? []
  return /\.(?:java|kt|kts|scala|groovy|clj)$/.test(first) &&
    parts.length > 1 &&
    parts.every((part) => /^[\w$]+$/.test(part))
    ? `${parts.slice(0, -1).join('/')}/${first}`
    : first
}

function cleanPath(given: string): string {
  if (given.length > MAX_CHARACTERS || given.startsWith('<') || given.startsWith('native ')) return ''
  return given
    .replaceAll('\\', '/')
    .replace(/[?#].*$/s, '')
    .replace(/^webpack(?:-internal)?:\/\/\/?(?:[^/]*\/)?(?=\.\/|src\/)/, '')
    .replace(/^[a-z][a-z0-9+.-]*:\/\/[^/]*\//i, '')
    .replace(/^[a-z]:\//i, '')
    .replace(/^(?:\.?\.?\/)+/, '')
    .replace(/^~\//, '')
}
