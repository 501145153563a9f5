import type { PartReader } from '#server/symbols/index-file/built-index.ts'
import {
  findClasses,
  findPart,
  findRows,
  memberKeyAt,
  rowAt,
  rowRangeAt,
  type ClassEntry,
  type MemberRow,
  type RowRange,
} from './index-layout.ts'
import { readMemberFacts, type MemberFacts } from './mapping-lines.ts'

/** A frame as the obfuscated app reports it. */
export type ObfuscatedFrame = {
  /** With dots between packages, as in a stack trace. */
  readonly className: string
  readonly method: string
  readonly line: number | null
  readonly file: string | null
}

export type RetracedFrame = {
  readonly className: string
  readonly method: string
  readonly line: number | null
  readonly file: string | null
  /** The compiler wrote the method: the app's source does not have it, and its readers need not see it. */
  readonly isSynthesized: boolean
}

/** One possible reading of a frame, with what the frames around it need. */
export type Reading = {
  /** Innermost first. */
  readonly frames: readonly RetracedFrame[]
  /** Facts of the method that the obfuscated frame is in. */
  readonly facts: MemberFacts
}

/** A frame that could be more code than this does not become readable by a longer list. */
const MAX_READINGS = 32
/** Longer chains of inlined methods are cut at their outer end. */
const MAX_CHAIN = 256
/** Rows of one obfuscated name that a look-up reads: methods have thousands at most. */
const MAX_ROWS = 100_000

/**
 * @returns the parts of the index that look-ups of these classes read, each once. A class that the mapping does not have
 * costs at most one part.
 */
export function proguardParts(directory: Buffer, classNames: readonly string[]): number[] {
  const parts = classNames.map((name) => findPart(directory, name)).filter((part) => part !== null)
  return [...new Set(parts)]
}

/** @returns the original name of a class, null if the mapping does not have it */
export function retraceClass(directory: Buffer, part: PartReader, name: string): string | null {
  return classesOf(directory, part, name)?.entries[0]?.original ?? null
}

/**
 * Reads an obfuscated frame as the frames that it had in the source.
 *
 * @returns the possible readings, the likeliest first, each with its innermost frame first; several where overloads or
 * lines look alike; none if the mapping does not have the class
 */
export function retraceFrame(directory: Buffer, part: PartReader, frame: ObfuscatedFrame): RetracedFrame[][] {
  return readFrame(directory, part, frame).map((reading) => [...reading.frames])
}

/** `retraceFrame`, with the facts that depend on the frames around. */
export function readFrame(directory: Buffer, part: PartReader, frame: ObfuscatedFrame): Reading[] {
  const classes = classesOf(directory, part, frame.className)
  const [first] = classes?.entries ?? []
  if (!classes || !first) return []
  const known = classes.entries.flatMap((entry) => readingsInClass(classes.bytes, entry, frame))
  return known.length > 0 ? known.slice(0, MAX_READINGS) : [{ frames: [unmappedMethod(first, frame)], facts: {} }]
}

function classesOf(
  directory: Buffer,
  part: PartReader,
  name: string,
): { readonly bytes: Buffer; readonly entries: ClassEntry[] } | null {
  const number = findPart(directory, name)
  if (number === null) return null
  const bytes = part(number)
  return { bytes, entries: findClasses(bytes, name) }
}

/** A method that kept its name is not always in the mapping. */
function unmappedMethod(entry: ClassEntry, { method, line, file }: ObfuscatedFrame): RetracedFrame {
  const fileName = sourceFileName({ className: entry.original, known: entry.sourceFile, reported: file, isOwn: true })
  return { className: entry.original, method, line: line === 0 ? null : line, file: fileName, isSynthesized: false }
}

/** The rows of one obfuscated range: the innermost method first, the method of the class last. */
type Chain = { readonly from: number; readonly to: number }

/** Which rows of a name may belong to the line of a frame. */
type Candidates = {
  /** Chains whose range has the line. */
  readonly matching: readonly Chain[]
  /** Rows without a range: they stand for all lines that no range has. */
  readonly unranged: readonly Chain[]
  /** The outermost rows of the chains of other lines, one for each original method. */
  readonly others: readonly number[]
}

function readingsInClass(part: Buffer, entry: ClassEntry, frame: ObfuscatedFrame): Reading[] {
  const { matching, unranged, others } = candidatesFor(part, entry, frame)
  const chains = matching.length > 0 ? matching : unranged
  if (chains.length > 0) return distinct(chains.flatMap((chain) => readChain(part, entry, frame, chain)))
  // The method is known, its line and the methods that were inlined there are not.
  return distinct(
    others.map((row) => ({ frames: [frameOf(part, entry, frame, row, null)], facts: factsOf(rowAt(part, row)) })),
  )
}

function candidatesFor(part: Buffer, entry: ClassEntry, frame: ObfuscatedFrame): Candidates {
  const matching: Chain[] = []
  const unranged: Chain[] = []
  const others = new Map<number, number>()
  const rows = findRows(part, entry, frame.method)
  const end = rows ? Math.min(rows.to, rows.from + MAX_ROWS) : 0
  for (let row = rows?.from ?? 0; row < end;) {
    const range = rowRangeAt(part, row)
    const chain = { from: row, to: row + 1 }
    if (range.hasRange) {
      while (chain.to < end && isSameRange(range, rowRangeAt(part, chain.to))) chain.to += 1
      // A frame without a line is at line 0, which ranges such as 0:65535 have.
      if (range.from <= (frame.line ?? 0) && (frame.line ?? 0) <= range.to) matching.push(chain)
      else others.set(memberKeyAt(part, chain.to - 1), chain.to - 1)
    } else if (!range.isField) unranged.push(chain)
    row = chain.to
    if (matching.length + unranged.length >= MAX_READINGS) break
  }
  return { matching, unranged, others: [...others.values()].slice(0, MAX_READINGS) }
}

function isSameRange(a: RowRange, b: RowRange): boolean {
  return b.hasRange && a.from === b.from && a.to === b.to
}

/** @returns the readings of a chain: several where one obfuscated line stands for several lines of the source */
function readChain(part: Buffer, entry: ClassEntry, frame: ObfuscatedFrame, chain: Chain): Reading[] {
  const rows: { readonly row: number; readonly lines: readonly (number | null)[] }[] = []
  let facts: MemberFacts = {}
  for (let row = chain.from; row < chain.to; row += 1) {
    if (rows.length >= MAX_CHAIN && row < chain.to - 1) continue
    const content = rowAt(part, row)
    rows.push({ row, lines: originalLines(content, frame.line) })
    facts = { ...facts, ...factsOf(content) }
  }
  const count = Math.max(...rows.map(({ lines }) => lines.length))
  return Array.from({ length: count }, (_, reading) => ({
    frames: rows.map(({ row, lines }) => {
      const line = lines[Math.min(reading, lines.length - 1)] ?? null
      // Only the outermost method is a method of the obfuscated app, whichever row the comment is below.
      return { ...frameOf(part, entry, frame, row, line), isSynthesized: row === chain.to - 1 && isHidden(facts) }
    }),
    facts,
  }))
}

/** @returns the possible lines of the source, null where it is not known */
function originalLines(row: MemberRow, line: number | null): (number | null)[] {
  const { minifiedFrom, minifiedTo, originalFrom: from, originalTo: to } = row
  if (from === null || to === null) return [line === 0 ? null : line]
  if (from === to) return [from === 0 ? null : from]
  if (line === null) return [null]
  if (minifiedFrom !== null && minifiedTo !== null && minifiedTo - minifiedFrom === to - from)
    return [from + line - minifiedFrom]
  return Array.from({ length: Math.min(to - from + 1, MAX_READINGS) }, (_, index) => from + index)
}

function frameOf(
  part: Buffer,
  entry: ClassEntry,
  { file: reported }: ObfuscatedFrame,
  row: number,
  line: number | null,
): RetracedFrame {
  const content = rowAt(part, row)
  const { name, className, file } = content.member
  const isOwn = className === ''
  const original = isOwn ? entry.original : className
  const known = isOwn ? entry.sourceFile : file
  return {
    className: original,
    method: name,
    line,
    file: sourceFileName({ className: original, known, reported, isOwn }),
    isSynthesized: isHidden(factsOf(content)),
  }
}

function isHidden({ synthesized, outline }: MemberFacts): boolean {
  return synthesized === true || outline === true
}

const SYNTHESIZED: MemberFacts = { synthesized: true }

function factsOf({ facts }: MemberRow): MemberFacts {
  if (facts === null) return {}
  return facts === '{"synthesized":true}' ? SYNTHESIZED : readMemberFacts(facts)
}

function distinct(readings: readonly Reading[]): Reading[] {
  return [...new Map(readings.map((reading) => [JSON.stringify(reading.frames), reading])).values()]
}

/**
 * The name of the file that a class is in. R8 writes `SourceFile` or `r8-map-id-…` into frames and keeps the name in the
 * mapping where it differs from the name that the class suggests (R8's documentation of Retrace, section "Source File").
 */
function sourceFileName({
  className,
  known,
  reported,
  isOwn,
}: {
  /** The original class. */
  readonly className: string
  /** The name of the mapping, null or empty if it has none. */
  readonly known: string | null
  /** The name of the obfuscated frame. */
  readonly reported: string | null
  /** False if the code came from another class than the frame's. */
  readonly isOwn: boolean
}): string | null {
  if (known !== null && known !== '') return known
  // A build without R8's own names keeps true ones, also where a file has several classes.
  if (isOwn && reported !== null && /^[^:\s]+\.(?:java|kt|scala|groovy)$/u.test(reported)) return reported

  const simpleName = className.slice(className.lastIndexOf('.') + 1)
  const inner = simpleName.indexOf('$', 1)
  const outermost = inner < 0 ? simpleName : simpleName.slice(0, inner)
  if (reported !== null && reported.endsWith('.java')) return `${outermost}.java`
  // Kotlin puts functions outside classes into a class with this ending.
  if (outermost.length > 2 && outermost.endsWith('Kt')) return `${outermost.slice(0, -2)}.kt`
  return reported !== null && reported.endsWith('.kt') ? `${outermost}.kt` : `${outermost}.java`
}
