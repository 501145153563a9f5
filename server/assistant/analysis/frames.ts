import type { Commit, FactEvent, Frame } from './facts.ts'
import { cutLine } from './plain.ts'

/** The frame that an event points at, and the commits that changed its file. Pure. */

/** The innermost frame of the app; without one the innermost frame. Outermost calls come first. */
export function failingFrame(stacks: readonly (readonly Frame[])[]): Frame | null {
  for (const frames of stacks) {
    const own = frames.findLast(({ in_app }) => in_app)
    if (own !== undefined) return own
  }
  return stacks[0]?.at(-1) ?? null
}

/** Stacks of an event: of an exception first, then of the other exceptions, then of the threads that failed. */
export function listStacks(event: FactEvent, first: number): Frame[][] {
  const { exceptions, threads } = event
  const ordered = [exceptions[first], ...exceptions.toReversed().filter((one) => one !== exceptions[first])]
  const failed = threads.filter(({ crashed, current }) => crashed || current)
  return [...ordered, ...failed].flatMap((one) => {
    const frames = one?.stacktrace?.frames ?? []
    return frames.length === 0 ? [] : [frames]
  })
}

/** The file of a frame without its origin and query. */
export function readFileName({ filename, abs_path }: Pick<Frame, 'filename' | 'abs_path'>): string | null {
  const name = (filename ?? abs_path)?.split(/[?#]/, 1)[0]
  if (name === undefined || name === '' || name === '<anonymous>') return null
  return (
    name
      .replaceAll('\\', '/')
      // The name of a host or of a bundle, then schemes without one.
      .replace(/^(?:https?|webpack|webpack-internal):\/\/[^/]*\//, '')
      .replace(/^(?:app|file|package|webpack|webpack-internal):\/*/, '')
      .replace(/^(?:(?:\.{1,2}|~)?\/)+/, '') || null
  )
}

const NO_NAME = /^(?:\?|<anonymous>|anonymous|<unknown>|<redacted>|)$/

/** `“charge” (src/checkout.ts:42)`; null for a frame without a name and file. */
export function describePlace(frame: Frame): string | null {
  const name = frame.function === null || NO_NAME.test(frame.function) ? null : cutLine(frame.function, 100)
  const owner = frame.module !== null && name !== null && /^[a-z][\w.$]*\.[A-Z][\w$]*$/.test(frame.module)
  const called = name === null ? null : owner ? `${frame.module?.split('.').at(-1)}.${name}` : name
  const file = readFileName(frame)
  const where = file === null ? frame.package : `${file}${frame.lineno === null ? '' : `:${frame.lineno}`}`
  const shown = where === null ? null : cutLine(where, 160)
  if (called === null) return shown
  return shown === null ? `“${called}”` : `“${called}” (${shown})`
}

/** Paths that a commit may have for the file of a frame. */
function pathsOf(frame: Frame): string[] {
  const file = readFileName(frame)
  if (file === null) return []
  const base = file.split('/').at(-1) ?? file
  // Java and Kotlin name the package in the module.
  const folder = frame.module?.includes('.') === true ? frame.module.split('.').slice(0, -1).join('/') : null
  return [file, ...(folder === null || file.includes('/') ? [] : [`${folder}/${base}`])]
}

/** Whether one path ends with the other, in whole names. */
function isSameFile(changed: string, file: string): boolean {
  const [long, short] = changed.length >= file.length ? [changed, file] : [file, changed]
  return long === short || long.endsWith(`/${short}`)
}

/** The commits that changed the file of a frame, newest first, at most three. */
export function suspectCommits(frame: Frame | null, commits: readonly Commit[]): Commit[] {
  if (frame === null) return []
  const files = pathsOf(frame)
  return commits
    .filter(({ patch_set }) => patch_set.some(({ path }) => files.some((file) => isSameFile(path, file))))
    .slice(0, 3)
}
