import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { buildProguardIndex } from './build-proguard-index.ts'
import { type ObfuscatedFrame, readFrame } from './retrace-frame.ts'
import { retraceStack } from './retrace-stack.ts'

/**
 * Stack traces of an app that R8 shrank, beside the output of its own Retrace; `test/fixtures/proguard/generate.mjs`
 * writes all files.
 */
const read = (name: string): string => readFileSync(`test/fixtures/proguard/${name}.txt`, 'utf8')

const FRAME = /^\s*at (?:\S+\/)?(?<className>[^()\s]+)\.(?<method>[^.()]+)\((?<file>[^:)]*)(?::(?<line>\d+))?\)$/u

/**
 * The dex build wraps Receipts.print into a synthesized method. Its mapping leaves that wrapper out at the lines that
 * calls of outlines point to, so that Receipts.print is the outermost row there. Retrace then hides it, since it hides the
 * outermost row of the wrapper; the frame is real, and we keep it.
 */
const HIDDEN_BY_RETRACE = /Receipts\.print\(/u

describe.each([
  { kind: 'class', differing: 0 },
  { kind: 'dex', differing: 62 },
])('the mapping of a $kind build', ({ kind, differing }) => {
  const { directory, parts } = buildProguardIndex(Buffer.from(read(`mapping-${kind}`)))
  const part = (number: number): Buffer => parts[number] ?? Buffer.alloc(0)

  /** The frames of a trace in the form of Retrace: synthesized frames are left out, other readings begin with `<OR>`. */
  function retraced(trace: string): string[] {
    return stacksOf(trace).flatMap(({ thrown, frames }) =>
      retraceStack({ thrown, frames }, (frame) => readFrame(directory, part, frame)).flatMap((readings, index) => {
        const shown = readings.map((reading) => reading.filter(({ isSynthesized }) => !isSynthesized))
        if (readings.length === 0) return [`at ${formatFrame(frames[index])}`]
        const depth = Math.max(...shown.map((reading) => reading.length))
        return Array.from({ length: depth }, (_, at) => [
          ...new Set(shown.map((reading) => formatFrame(reading[at]))),
        ]).flatMap((lines) => lines.map((line, at) => (at === 0 ? `at ${line}` : `<OR> at ${line}`)))
      }),
    )
  }

  const traces = read(`traces-${kind}`).split('\n==\n')
  const expected = read(`expected-${kind}`).split('\n==\n')

  it('gives the frames that Retrace gives, and some that it loses', () => {
    const differences: { trace: string; ours: string[]; theirs: string[] }[] = []
    for (const [index, trace] of traces.entries()) {
      const ours = retraced(trace)
      const theirs = framesOf(expected[index] ?? '')
      if (ours.join('\n') !== theirs.join('\n')) differences.push({ trace, ours, theirs })
    }
    const isShown = (line: string): boolean => !HIDDEN_BY_RETRACE.test(line)
    const unexplained = differences.filter(
      ({ trace, ours, theirs }) =>
        ours.filter(isShown).join('\n') !== theirs.filter(isShown).join('\n') &&
        !(trace.endsWith('(SourceFile)') && isPartOf(theirs, ours)),
    )
    expect(traces.length).toBeGreaterThan(100)
    expect(unexplained).toEqual([])
    expect(differences).toHaveLength(differing)
  })
})

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
