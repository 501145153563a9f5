import type { ObfuscatedFrame, Reading, RetracedFrame } from './retrace-frame.ts'

/** An exception and its frames as the obfuscated app reports them. */
type ObfuscatedStack = {
  /** The class of the exception with its obfuscated name, null if the stack is not of an exception. */
  readonly thrown: string | null
  /** Innermost first. */
  readonly frames: readonly ObfuscatedFrame[]
}

/**
 * Reads the frames of one stack. More than `retraceFrame` of each, it knows what depends on the frames around:
 *
 * - Code that R8 moved into a method of its own (an outline) belongs to the frame that called it: its frame disappears,
 *   and the calling frame gets the line of the code.
 * - Frames of checks that R8 rewrote disappear at the top of the stack, where the mapping says so for the exception.
 *
 * Both as in R8's documentation of Retrace, sections "Outline" and "RewriteFrame".
 *
 * @param read reads a frame of the stack alone, or one of them at another line
 * @returns for each frame its readings, as `retraceFrame` gives them; `[[]]` if the source has no such frame
 */
export function retraceStack(
  { thrown, frames }: ObfuscatedStack,
  read: (frame: ObfuscatedFrame) => readonly Reading[],
): RetracedFrame[][][] {
  let outlineLine: number | null = null
  let isTop = true
  return frames.map((frame) => {
    const carried: number | null = outlineLine
    const readings = readingsWithOutline(read, frame, carried)
    const [first] = readings
    if (first?.facts.outline === true) {
      outlineLine = carried ?? frame.line
      return [[]]
    }
    if (first) outlineLine = null
    const kept = readings.map((reading) => [...(isTop ? rewritten(reading, thrown) : reading.frames)])
    isTop = false
    return kept
  })
}

/** The line of an outline that was called here says which line of this method the code came from. */
function readingsWithOutline(
  read: (frame: ObfuscatedFrame) => readonly Reading[],
  frame: ObfuscatedFrame,
  outlineLine: number | null,
): readonly Reading[] {
  const readings = read(frame)
  const line = outlineLine === null ? undefined : readings[0]?.facts.positions?.[outlineLine]
  return line === undefined ? readings : read({ ...frame, line })
}

function rewritten({ frames, facts }: Reading, thrown: string | null): readonly RetracedFrame[] {
  for (const rewrite of facts.rewrites ?? []) {
    const applies = thrown !== null && rewrite.thrown.every((name) => name === thrown)
    // The format calls a larger number an error; R8's Retrace leaves the frames as they are.
    if (applies && rewrite.removeInnerFrames <= frames.length) return frames.slice(rewrite.removeInnerFrames)
  }
  return frames
}
