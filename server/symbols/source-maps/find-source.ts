import type { PartReader } from '../index-file/built-index.ts'
import { readLines } from './content-parts.ts'
import { findContentParts, findSegmentParts } from './directory.ts'
import { findSegment } from './segment-parts.ts'

/**
 * A position in generated code as a frame has it: line and column begin at 1. Hermes counts the bytes of its code from 0
 * (`address at index.android.bundle:1:85`); SDKs for React Native add 1 before they send it, and a reader of raw stacks
 * must do so too. A frame without a column has null.
 */
export type GeneratedPosition = { readonly line: number; readonly column: number | null }

/** Where a position of generated code comes from. Line and column begin at 1. */
export type SourcePosition = {
  readonly source: string
  readonly line: number
  readonly column: number
  /** The symbol at this position, where the map names it: a variable or a call, seldom the function. */
  readonly name: string | null
  /** The enclosing function; `<global>` for code outside functions, null where the map does not say. */
  readonly functionName: string | null
  /** The map's author marked the source as code of others. */
  readonly isIgnored: boolean
  readonly sourceIndex: number
  readonly hasContent: boolean
}

export type SourceContext = { readonly pre: readonly string[]; readonly line: string; readonly post: readonly string[] }

/** @returns the parts that {@link findSource} reads for this position: one, or two where the column is missing */
export function sourceMapParts(directory: Buffer, query: GeneratedPosition): number[] {
  const { line, column } = zeroBased(query)
  return line < 0 ? [] : findSegmentParts(directory, line, column)
}

/**
 * Finds the source of a position: the mapping at it, or the last one before it in its line. Without a column, the first
 * mapping of the line that has a source.
 */
export function findSource(directory: Buffer, part: PartReader, query: GeneratedPosition): SourcePosition | null {
  const { line, column } = zeroBased(query)
  for (const number of sourceMapParts(directory, query)) {
    const found = findSegment(part(number), line, column)
    if (found === null) continue
    const { sourceLine, source } = found
    return {
      source: found.sourceName,
      line: sourceLine + 1,
      column: found.sourceColumn + 1,
      name: found.name === '' ? null : found.name,
      functionName: found.functionName,
      isIgnored: found.isIgnored,
      sourceIndex: source,
      hasContent: found.hasContent,
    }
  }
  return null
}

/** @returns the parts that {@link sourceContext} reads; none where the map has no content of the source */
export const sourceContextParts = (
  directory: Buffer,
  { sourceIndex, line, hasContent }: Pick<SourcePosition, 'sourceIndex' | 'line' | 'hasContent'>,
  around: number,
): number[] =>
  hasContent ? findContentParts(directory, sourceIndex, Math.max(0, line - 1 - around), line + around) : []

/**
 * Reads a line of a source and those around it.
 * @param line begins at 1
 * @returns null when the map has no content of the source, or the source has no such line
 */
export function sourceContext(
  directory: Buffer,
  part: PartReader,
  sourceIndex: number,
  line: number,
  around = 5,
): SourceContext | null {
  const wanted = line - 1
  const lines = new Map<number, string>()
  const from = Math.max(0, wanted - around)
  const until = wanted + around + 1
  for (const number of findContentParts(directory, sourceIndex, from, until)) {
    const found = readLines(part(number), sourceIndex, from, until)
    for (const [index, text] of found.lines.entries()) lines.set(found.first + index, text)
  }
  const own = lines.get(wanted)
  if (own === undefined) return null
  const inOrder = [...lines].sort(([a], [b]) => a - b)
  return {
    pre: inOrder.filter(([number]) => number < wanted).map(([, text]) => text),
    line: own,
    post: inOrder.filter(([number]) => number > wanted).map(([, text]) => text),
  }
}

/** Frames of some runtimes have a column 0: it is the first one. */
const zeroBased = ({ line, column }: GeneratedPosition): GeneratedPosition => ({
  line: line - 1,
  column: column === null ? null : Math.max(0, column - 1),
})
