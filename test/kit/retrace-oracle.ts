import { buildProguardIndex } from '#server/symbols/proguard/build-proguard-index.ts'
import { type ObfuscatedFrame, readFrame } from '#server/symbols/proguard/retrace-frame.ts'
import { retraceStack } from '#server/symbols/proguard/retrace-stack.ts'

/** Our reader of mappings beside Retrace of R8. */

const FRAME = /^\s*at (?:\S+\/)?(?<className>[^()\s]+)\.(?<method>[^.()]+)\((?<file>[^:)]*)(?::(?<line>\d+))?\)$/u

/**
 * The dex build wraps Receipts.print into a synthesized method. Its mapping leaves that wrapper out at the lines that
 * calls of outlines point to, so that Receipts.print is the outermost row there. Retrace then hides it, since it hides the
 * outermost row of the wrapper; the frame is real, and we keep it.
 */
const HIDDEN_BY_RETRACE = /Receipts\.print\(/u

type Difference = { readonly trace: string; readonly ours: readonly string[]; readonly theirs: readonly string[] }

/**
 * Compares what we make of obfuscated stack traces with what Retrace makes of them.
 * @param given the texts of files that `test/fixtures/proguard/generate.mjs` writes
 * @returns all differences, and those that are not explained above
 */
export function compareWithRetrace(given: { mapping: string; traces: string; expected: string }): {
  readonly traces: number
  readonly differences: readonly Difference[]
  readonly unexplained: readonly Difference[]
} {
  const { directory, parts } = buildProguardIndex(Buffer.from(given.mapping))
  const part = (number: number): Buffer => parts[number] ?? Buffer.alloc(0)

  /** The frames of a trace in the form of Retrace: synthesized frames are left out, other readings begin with `<OR>`. */
  const retraced = (trace: string): string[] =>
    stacksOf(trace).flatMap(({ thrown, frames }) =>
      retraceStack({ thrown, frames }, (frame) => readFrame(directory, part, frame)).flatMap((readings, index) => {
        const shown = readings.map((reading) => reading.filter(({ isSynthesized }) => !isSynthesized))
        if (readings.length === 0) return [`at ${formatFrame(frames[index])}`]
        const depth = Math.max(...shown.map((reading) => reading.length))
        return Array.from({ length: depth }, (_, at) => [
          ...new Set(shown.map((reading) => formatFrame(reading[at])).filter((line) => line !== '')),
        ]).flatMap((lines) => lines.map((line, at) => (at === 0 ? `at ${line}` : `<OR> at ${line}`)))
      }),
    )

  const traces = given.traces.split('\n==\n')
  const expected = given.expected.split('\n==\n')
  const differences = traces
    .map((trace, index) => ({ trace, ours: retraced(trace), theirs: framesOf(expected[index] ?? '') }))
    .filter(({ ours, theirs }) => ours.join('\n') !== theirs.join('\n'))
  const isShown = (line: string): boolean => !HIDDEN_BY_RETRACE.test(line)
  const unexplained = differences.filter(
    ({ trace, ours, theirs }) =>
      ours.filter(isShown).join('\n') !== theirs.filter(isShown).join('\n') &&
      !(trace.endsWith('(SourceFile)') && isPartOf(theirs, ours)),
  )
  return { traces: traces.length, differences, unexplained }
}

/** Without a line, Retrace lists only some of the methods that R8 merged into one; we list them all. */
function isPartOf(some: readonly string[], all: readonly string[]): boolean {
  const names = new Set(all.map((line) => line.replace('<OR> ', '')))
  return some.length > 0 && some.every((line) => names.has(line.replace('<OR> ', '')))
}

type Stack = { readonly thrown: string | null; readonly frames: ObfuscatedFrame[] }

function stacksOf(trace: string): Stack[] {
  const stacks: Stack[] = []
  for (const line of trace.split('\n')) {
    const [, thrown] = /^(?:Caused by: )?([\w.$]+)(?::|$)/u.exec(line) ?? []
    if (thrown !== undefined) stacks.push({ thrown, frames: [] })
    const groups = FRAME.exec(line)?.groups
    if (!groups) continue
    const { className = '', method = '', file = '' } = groups
    stacks.at(-1)?.frames.push({ className, method, file, line: groups.line ? Number(groups.line) : null })
  }
  return stacks
}

function framesOf(trace: string): string[] {
  return trace
    .split('\n')
    .map((line) => line.trim().replace(/at \S+\//u, 'at '))
    .filter((line) => /^(?:<OR> )?at /u.test(line))
}

type ShownFrame = Pick<ObfuscatedFrame, 'className' | 'method' | 'file' | 'line'>

function formatFrame(frame: ShownFrame | undefined): string {
  if (!frame) return ''
  const line = frame.line === null ? '' : `:${frame.line}`
  return `${frame.className}.${frame.method}(${frame.file ?? ''}${line})`
}
